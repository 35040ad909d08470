#pragma once

#include <string>

namespace knell {

/// The value of an environment variable; "" when it is unset, which nothing here tells from empty.
std::string environment_variable(const char* name);

/// What this machine is called.
std::string host_name();

}  // namespace knell
