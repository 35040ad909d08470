#pragma once

#include <string>

#include "samples.hpp"
#include "wire/json.hpp"

namespace knell::bench {

/// What the figures depend on besides the program: without it they mean nothing.
JsonObject describe_machine(const std::string& directory);

/// The three numbers of /proc/loadavg: others may be using the cores.
std::string load_average();

}  // namespace knell::bench
