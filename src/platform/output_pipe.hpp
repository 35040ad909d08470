#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "core/error.hpp"
#include "platform/fd.hpp"

namespace knell {

/// What a child prints, and we read without ever waiting; a child that prints may wait for us.
struct OutputPipe {
    Fd reader;
    Fd writer;  // for the child; ours is closed once it has started
};
/// `limit` when the system is short of what it takes (platform/shortage.hpp).
Result<OutputPipe> open_output_pipe();

/// Hands on what is there, a piece at a time and `bytes_max` at most.  Closes the reader at the end
/// of the output.
void read_output(Fd& reader, std::size_t bytes_max,
                 const std::function<void(std::string_view)>& take);

}  // namespace knell
