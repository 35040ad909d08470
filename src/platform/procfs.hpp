#pragma once

#include <string>

#include "core/error.hpp"

namespace knell {

/// That the kernel's list of processes is mounted.  Without it nothing can be told of any process,
/// and what fails first for want of it names something else: a socket, the program itself.
Result<void> check_procfs(const std::string& proc = "/proc");

}  // namespace knell
