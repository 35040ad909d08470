#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/command.hpp"
#include "engine/decide.hpp"
#include "engine/state.hpp"
#include "store/store.hpp"

namespace knell {

/// Group commit: many decisions, one transaction; a reply exists only once its commit does.
///
/// A step, not a loop: the caller brings commands and the time, so that the daemon, the tests and
/// a simulator run the same code.  One thread, the store's.
class Journal {
  public:
    Journal(State& state, Store& store) : state_(state), store_(store) {}

    /// Takes the open sessions and the numbering from the store.
    Result<void> recover();

    /// Decides `commands` in order and makes the decisions durable.  The answers stand in the order
    /// of the commands.  When the store fails, all commands of the failed transaction fail with it
    /// and the state is as before them.
    std::vector<Result<Reply>> commit(std::vector<Command>&& commands, Now now);

    struct Counts {
        std::uint64_t commits = 0;
        std::uint64_t commands = 0;
        std::uint64_t failures = 0;
    };
    const Counts& counts() const { return counts_; }

  private:
    /// Decides from `next` on until the end or a command that must wait for what is decided.
    Result<std::size_t> decide_some(std::span<Command> commands, Now now,
                                    std::vector<Result<Reply>>& replies);

    State& state_;
    Store& store_;
    Batch batch_;
    Counts counts_;
};

}  // namespace knell
