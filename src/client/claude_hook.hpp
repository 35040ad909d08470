#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "client/claude_event.hpp"
#include "client/spool.hpp"
#include "core/error.hpp"
#include "wire/json.hpp"

namespace knell::client {

/// What a hook of Claude Code does with the world around it.
class ClaudeSurroundings {
  public:
    virtual ~ClaudeSurroundings() = default;

    /// Of the daemon that runs; none is started.  `unreachable` when there is none, or when it does
    /// not answer in time.
    virtual Result<JsonObject> call(std::string_view method, const JsonObject& params) = 0;
    /// Under `knell run`: its session, whatever Claude Code calls it, and the fencing token.
    struct Run {
        SessionId session;
        Generation generation = 0;
    };
    virtual std::optional<Run> run() = 0;
    /// The process of the agent; nothing when it cannot be told.
    virtual std::optional<pid_t> agent() = 0;
    virtual JsonObject owner_for_call(pid_t pid) = 0;
    virtual JsonObject owner_for_spool(pid_t pid) = 0;
    virtual Result<void> spool(const SessionId& session, std::span<const SpoolRecord> records) = 0;
    virtual WallTime now() = 0;
};

/// One run of `knell hook claude-code`: keeps the session's record and reports calls of tools.
/// What is said to the agent comes back, "" for nothing.  An error is for whoever looks into why;
/// none of them is the agent's.
///
/// Many may run at the same time, for one session too: each asks the daemon anew, which decides.
class ClaudeHook {
  public:
    explicit ClaudeHook(ClaudeSurroundings& surroundings) : around_(surroundings) {}

    Result<std::string> handle(const ClaudeEvent& event);

  private:
    /// Where calls of that session go.
    struct Target {
        SessionId session;
        Generation generation = 0;
        std::int64_t owner_pid = 0;  // of one that is not of a run: who is on record as its owner
    };
    /// Nothing where it is on record as ended, and is not to be opened again.
    enum class Unless : std::uint8_t { ended, never };
    Result<std::optional<Target>> find(const ClaudeEvent& event, Unless unless);
    Result<std::optional<Target>> open(const ClaudeEvent& event);
    JsonObject create_params(const ClaudeEvent& event, JsonObject owner) const;

    Result<std::string> start(const ClaudeEvent& event);
    Result<std::string> end(const ClaudeEvent& event);
    Result<std::string> turn(const ClaudeEvent& event, std::string_view method);
    Result<std::string> report(const ClaudeEvent& event);
    Result<std::string> check(const ClaudeEvent& event);
    /// There is no daemon to tell: written down for the next one.
    Result<std::string> write_down(const ClaudeEvent& event, bool is_end);

    ClaudeSurroundings& around_;
};

}  // namespace knell::client
