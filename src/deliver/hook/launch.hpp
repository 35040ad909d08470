#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "deliver/hook/command.hpp"
#include "platform/fd.hpp"
#include "platform/spawn.hpp"

namespace knell {

/// A program to start, and all that it gets from us.
struct HookLaunch {
    const HookCommand& command;
    std::vector<std::string> environment;
    int input;   // its standard input
    int output;  // its standard output and error
    /// One more variable, of this name and `mark`; the pid of the new process is put behind it.
    std::string_view mark_variable;
    std::string_view mark;
};

/// Starts the program as the leader of a session, and so of a process group, of its own, with the
/// default signals and no other descriptor of ours.  It is killed when the calling thread ends, so
/// that a hook does not outlive a daemon that is killed.  The error says which program and why not,
/// for the person who wrote the hook; it is `limit` where the hook is not at fault
/// (platform/shortage.hpp), and so it is below.
///
/// A program is executed by the directory descriptor that was checked; a script by its path, which
/// its interpreter must be able to open: nobody else can change where that leads.
Result<Spawned> launch(const HookLaunch& order);

/// `text` as a file to be read from its beginning.  A hook that does not read it blocks nobody, and
/// one that does comes to its end.
Result<Fd> input_of(std::string_view text);

}  // namespace knell
