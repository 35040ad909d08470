#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace knell::cli {

/// A process above this one, and the name of its program.
struct NamedAncestor {
    pid_t pid = 0;
    std::string program;
};

/// Whether that is a program that runs others by their command lines.
bool is_shell(std::string_view program);

/// The agent that runs a hook: the first above it that is no shell.  Pure.  The nearest first.
/// Nothing: init is left, which adopted the hook.
std::optional<pid_t> choose_agent(std::span<const NamedAncestor> ancestors);

/// The same for this process; but `named` where a process of that number is above it, or its
/// ancestors cannot be looked at: what an agent says of itself.
std::optional<pid_t> agent_process(std::optional<pid_t> named);

}  // namespace knell::cli
