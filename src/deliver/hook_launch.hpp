#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "core/error.hpp"
#include "platform/fd.hpp"

namespace knell {

/// A program to start, and all that it gets from us.
struct HookLaunch {
    std::vector<std::string> argv;  // a program without a slash is looked up in PATH
    std::vector<std::string> environment;
    std::string directory;
    int input;   // its standard input
    int output;  // its standard output and error
};

/// Starts the program as the leader of a session, and so of a process group, of its own, with the
/// default signals and no other descriptor of ours.  The error says which program and why not, for
/// the person who wrote the hook.
///
/// Spawns and never forks: a daemon with a million sessions has page tables that take long to copy.
Result<pid_t> launch(const HookLaunch& order);

/// `text` as a file to be read from its beginning.  A hook that does not read it blocks nobody, and
/// one that does comes to its end.
Result<Fd> input_of(std::string_view text);

}  // namespace knell
