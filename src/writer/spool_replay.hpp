#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/command.hpp"
#include "engine/decide.hpp"

namespace knell {

/// The calls of one spool file, said one after another: what a close is meant for shows in the
/// answer to the create before it.  A create and the close after it are one call: the owner is long
/// gone, and between two calls somebody would find that out.
///
/// A step, not a loop, and no file: the daemon and the simulator run the same code.  `next`, then
/// the answer to `take`, and so on until there is a verdict.
class SpoolReplay {
  public:
    explicit SpoolReplay(std::vector<Command> commands) : commands_(std::move(commands)) {}

    struct Delivered {};  // all of it is durable: the file may go
    struct Later {        // it stays for now
        std::string why;
    };
    struct Never {  // it is set aside
        std::string why;
    };
    using Next = std::variant<Command, Delivered, Later, Never>;

    /// What to say next, or what became of the file.
    Next next();
    /// The answer to the command that `next` gave.
    void take(const Result<Reply>& reply);

    bool is_empty() const { return commands_.empty(); }

  private:
    /// Of the life that the file tells of, where that is on record.
    std::optional<Generation> generation_on_record(const Error& error) const;
    bool is_owner(const ProcessIdentity& process) const;
    bool is_said_again(std::size_t place) const;
    std::optional<Close> close_after(std::size_t place) const;

    std::vector<Command> commands_;
    std::size_t next_ = 0;
    bool resumes_ = false;  // the create stands for the next life of a session that ended
    std::optional<ProcessIdentity> owner_;  // of the last create
    Generation generation_ = 1;             // that it opened
    std::variant<std::monostate, Later, Never> verdict_;
};

}  // namespace knell
