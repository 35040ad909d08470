#pragma once

#include <string>

#include "platform/fd.hpp"

namespace knell::testing {

/// Waits for a line from whoever writes; "" when none comes.
std::string read_line(const Fd& fifo);
void write_line(const Fd& fifo);
/// Waits until nobody has the pipe open for writing any more.
bool is_let_go(const Fd& reader);

}  // namespace knell::testing
