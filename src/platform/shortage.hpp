#pragma once

#include <cerrno>

namespace knell {

/// Whether an errno says that the system, or a limit of ours, is short of something for now:
/// descriptors, processes, memory.  What was asked for is not at fault, and may be had later.
constexpr bool is_shortage(int error) {
    return error == EMFILE || error == ENFILE || error == EAGAIN || error == ENOMEM ||
           error == ENOBUFS;
}

}  // namespace knell
