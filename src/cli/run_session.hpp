#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <sys/types.h>

#include "cli/run_signals.hpp"
#include "client/connection.hpp"
#include "client/spool.hpp"
#include "core/error.hpp"
#include "core/ids.hpp"
#include "platform/paths.hpp"
#include "wire/json.hpp"

namespace knell::cli {

/// How a command ended, in the words of the contract.
struct RunEnd {
    std::string reason;
    std::string detail;

    bool operator==(const RunEnd&) const = default;
};

/// Of the lease that stands for a command which the daemon cannot see.
inline constexpr std::chrono::seconds unseen_lease_ttl{30};

enum class Reopened : std::uint8_t { yes, not_yet, no };

/// Pure.  Of a process that is gone.
RunEnd describe_end(const RunOutcome& outcome);

/// The session of one `knell run`, told to a daemon or, where none can be reached, kept in the
/// spool for the next one.  Nothing here keeps a command from running, except what only the person
/// can settle.
class RunSession {
  public:
    /// `params` are those of session.create, id included, without the owner.  `command` is what
    /// runs, for people.
    RunSession(const Paths& paths, JsonObject params, std::string command = {});

    /// An error means that the command must not run: the id is another live process's, or an
    /// option is not one the daemon takes.
    Result<void> open(pid_t owner);
    /// With `command`, what it left running is looked for, recorded and told on the terminal.
    void close(const RunOutcome& outcome, std::optional<pid_t> command);

    const SessionId& id() const { return id_; }
    /// 0 when it is not known: the daemon will give one when it reads the spool.
    Generation generation() const { return generation_; }
    /// For the command.  "" where the daemon of another home listens: named to the command, it
    /// would be taken for the one that has this session.
    std::string socket() const;
    /// The daemon cannot see the command: a lease of `unseen_lease_ttl` stands for it, which is to
    /// be renewed while it lives.
    bool needs_renewal() const { return needs_renewal_; }
    /// No daemon knew of it when the command began.
    bool is_untold() const { return untold_create_.has_value(); }
    /// `close` reached no daemon: nobody looks for what the command left running.
    bool is_end_untold() const { return is_end_untold_; }
    /// Of a session that has ended while `owner` lives.  If its lease ran out, because all of us
    /// stood still for so long, it gets its next generation; what others ended stays ended.
    Reopened open_again_if_reaped(pid_t owner);

  private:
    JsonObject with_command(JsonObject owner) const;
    Result<Json> create_as(client::Connection& connection, const JsonObject& owner,
                           const client::Deadline& deadline);
    Result<void> create(client::Connection& connection, pid_t owner,
                        const client::Deadline& deadline);
    /// `names`: title and cwd, where they are those of another command than before.
    Result<Json> resume_as(client::Connection& connection, const JsonObject& owner,
                           JsonObject names, const client::Deadline& deadline) const;
    Result<JsonObject> tell(std::string_view method, const JsonObject& params);
    void take_generation(const Json& opened);
    void tell_leftovers(const JsonObject& closed) const;
    void keep_create(pid_t owner, const Error& why);
    void keep_both(const JsonObject& close_params);
    void keep_close(const JsonObject& params, const Error& why);

    const Paths& paths_;
    JsonObject params_;
    const std::string command_;
    const SessionId id_;
    Generation generation_ = 0;
    std::optional<client::SpoolRecord> untold_create_;  // no daemon could be reached
    bool create_is_kept_ = false;
    bool needs_renewal_ = false;
    bool is_end_untold_ = false;
};

}  // namespace knell::cli
