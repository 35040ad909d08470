#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace knell {

/// In what way an agent seems to be stuck.  Where several apply at once, the first is told.
enum class NudgeKind : std::uint8_t {
    errors,     // one call of a tool after the other fails
    same_call,  // the same tool with the same arguments and the same result
    same_tool,  // the same tool again and again
    cycle,      // two calls by turns: A-B-A-B
};
inline constexpr std::array<std::string_view, 4> nudge_kind_names{"errors", "same_call",
                                                                  "same_tool", "cycle"};

enum class NudgeLevel : std::uint8_t { advice, warning, stop_and_rethink };
inline constexpr std::array<std::string_view, 3> nudge_level_names{"advice", "warning",
                                                                   "stop_and_rethink"};

/// What an agent is to be told of: what agent:stuck tells beside the words.
struct Stuck {
    NudgeKind kind = NudgeKind::errors;
    NudgeLevel level = NudgeLevel::advice;
    std::uint32_t streak = 0;
    std::string tool{};        // of the last call
    std::string other_tool{};  // of a cycle: of the one before
    std::string error{};       // the last one of what goes on, cut; "" where none failed

    bool operator==(const Stuck&) const = default;
};

/// For a column of the store.
std::string to_text(const Stuck& stuck);
Stuck stuck_from_text(std::string_view text);

/// The same in words for the agent: what it did, how often, what went wrong last, and one thing
/// to do instead.
std::string nudge_text(const Stuck& stuck);

enum class BreakerMode : std::uint8_t {
    advise,  // agents are told, and nothing is refused
    open,    // after the third level calls are refused for a while
};
inline constexpr std::array<std::string_view, 2> breaker_mode_names{"advise", "open"};

/// When an agent counts as stuck: the `guard` of the config.  A threshold of 0: never.
struct GuardPolicy {
    std::uint32_t errors = 3;  // in a row; the next level at each multiple
    std::uint32_t same_call = 3;
    std::uint32_t same_tool = 12;
    std::uint32_t cycle = 4;
    std::vector<std::string> normal_tools;  // for which a row of calls says nothing
    BreakerMode breaker = BreakerMode::advise;
    std::chrono::seconds cool_down{60};

    bool operator==(const GuardPolicy&) const = default;
};

/// A call of a tool; the arguments as a hash, none: nobody said.
struct ToolCall {
    std::string tool;
    std::optional<std::uint64_t> args{};
};
/// How it went.
struct ToolReport {
    ToolCall call;
    bool ok = true;
    std::string error{};                    // when it failed: as the tool said it
    std::optional<std::uint64_t> result{};  // a hash; none: nobody said
};

enum class BreakerState : std::uint8_t {
    closed,     // every call may be made
    open,       // those of its kind are refused until it has cooled down
    half_open,  // one was let through, and how that went decides
};
inline constexpr std::array<std::string_view, 3> breaker_state_names{"closed", "open", "half_open"};

struct Breaker {
    BreakerState state = BreakerState::closed;
    NudgeKind kind = NudgeKind::errors;  // what opened it
    /// Open: cooled down then.  Half open: another one is let through then, if nothing was heard of
    /// the first.
    SteadyTime until{};
    std::string tool{};        // what is refused: of same_call, same_tool and cycle, calls of it
    std::string other_tool{};  // of a cycle, these too
    std::uint64_t call = 0;    // of same_call and cycle: of the tool, with these arguments
    std::uint64_t other_call = 0;
    std::string tried{};  // half open: the tool that was let through

    bool operator==(const Breaker&) const = default;
};

/// What is kept of the calls of one session, however many there were.
struct GuardState {
    std::uint32_t errors = 0;  // the last so many failed
    std::uint32_t same_call = 0;
    std::uint32_t same_tool = 0;
    std::uint32_t cycle = 0;
    /// A call as a hash: of the tool with its arguments, and with how it went.
    struct Mark {
        std::uint64_t call = 0;
        std::uint64_t outcome = 0;
        bool operator==(const Mark&) const = default;
    };
    Mark last;
    Mark before;
    std::string tool;  // of the last call, and of the one before
    std::string tool_before;
    std::string error;          // the last one of what goes on, cut
    std::optional<Stuck> told;  // last
    WallTime told_at{};
    Breaker breaker;

    bool operator==(const GuardState&) const = default;
};

/// Takes one more outcome in, and says whether the agent is to be told that it is stuck.
/// `wall` is for `told_at`, `now` for the breaker.
std::optional<Stuck> note_call(GuardState& state, const ToolReport& report,
                               const GuardPolicy& policy, SteadyTime now, WallTime wall);

/// Whether a call may be made now.  Whoever is let through a breaker that has cooled down is the
/// only one until it is known how that went.
struct Permission {
    bool allow = true;
    std::string why{};                    // not
    std::chrono::seconds retry_after{0};  // then it may be asked again
};
Permission request_call(GuardState& state, const ToolCall& call, const GuardPolicy& policy,
                        SteadyTime now);

/// Sums, since the daemon came up.
struct GuardCounts {
    std::uint64_t reports = 0;
    std::uint64_t errors = 0;  // of these
    std::uint64_t denials = 0;
    std::array<std::array<std::uint64_t, nudge_level_names.size()>, nudge_kind_names.size()>
        nudges{};  // by kind and level

    void add(const Stuck& stuck) {
        ++nudges.at(static_cast<std::size_t>(stuck.kind)).at(static_cast<std::size_t>(stuck.level));
    }
    void add(const GuardCounts& other);
    std::uint64_t of(NudgeLevel level) const;

    bool operator==(const GuardCounts&) const = default;
};

/// 64 bits of anything, for telling calls apart; not for anybody who wants two to look the same.
class CallHash {
  public:
    CallHash& add(std::string_view bytes);
    CallHash& add(std::uint64_t number);
    std::uint64_t value() const;

  private:
    std::uint64_t sum_ = 14'695'981'039'346'656'037U;
};

}  // namespace knell
