#pragma once

#include <span>
#include <string>
#include <vector>

namespace knell::client {

/// The environment of a daemon that starts in the background, as NAME=value: of the caller's only
/// what programs need to find their way, what the network needs (proxies, certificates), and what
/// `named` asks for.  A daemon lives longer than the shell that happened to start it, and must not
/// keep that shell's secrets.  Pure.
///
/// `ours` is an environment as C has it: ended by a null pointer.
std::vector<std::string> daemon_environment(const char* const* ours,
                                            std::span<const std::string> named);

/// The same for this process: takes all else out of its own environment, but for what a service
/// manager says to it.  Before there are other threads.
void drop_other_variables(std::span<const std::string> named);

}  // namespace knell::client
