#pragma once

#include <string_view>

namespace knell {

/// Whether /proc/<pid>/stat, whose text this is, tells of a thread of the kernel: it runs no
/// program, nobody started it and no signal ends it.
bool is_kernel_thread(std::string_view stat);

}  // namespace knell
