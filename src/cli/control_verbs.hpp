#pragma once

#include <memory>

#include "cli/command.hpp"

namespace knell::cli {

// Verbs that take hold of what runs already: a process, sessions, the daemon.

std::unique_ptr<Command> make_adopt();
std::unique_ptr<Command> make_wait();
std::unique_ptr<Command> make_restart();

}  // namespace knell::cli
