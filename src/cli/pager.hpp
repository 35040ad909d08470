#pragma once

#include <optional>
#include <string>
#include <vector>

#include "platform/fd.hpp"
#include "platform/spawn.hpp"
#include "platform/terminal.hpp"

namespace knell::cli {

/// What is printed while this is there goes through a pager: $PAGER, else less, which leaves at
/// once what fits on the screen.  Only where standard output is a terminal (TERM says of which
/// kind) and there is such a program; none where PAGER is "cat" or empty.  Whoever leaves the pager
/// early has seen enough: what could not be written then is no error.
class Pager {
  public:
    explicit Pager(const Terminal& output);
    ~Pager();
    Pager(const Pager&) = delete;
    Pager& operator=(const Pager&) = delete;

  private:
    std::optional<Spawned> pager_;
    Fd terminal_;  // what standard output was
};

/// How that pager is started: its words, or a shell's for what only a shell understands.  Pure.
std::vector<std::string> pager_argv(const std::string& pager);

}  // namespace knell::cli
