#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host.hpp"
#include "testing/guard_model.hpp"

namespace knell::sim {

class Ledger;
struct Said;
struct StepFacts;

/// When agents count as stuck in the simulation: early, so that much follows.
GuardPolicy guard_policy();

/// What was reported of tools' calls, whole, of every session; what has to be told of that; and
/// when calls may be refused.
class ToolTruth {
  public:
    /// Takes an answer in.  A sentence on what is wrong with it; "": nothing.
    std::string take(const Said& said, const Ledger& ledger, const StepFacts& step);
    /// The daemon is no more, and what it kept of calls was in memory.
    void clear() { sessions_.clear(); }

    struct Nudge {
        SessionId session;
        testing::GuardModel::Told told;
        bool operator==(const Nudge&) const = default;
    };
    /// All that had to be told, in order; kept until `clear_due`.
    const std::vector<Nudge>& due() const { return due_; }
    void clear_due() { due_.clear(); }

  private:
    /// What refuses calls.  None of it is asked of the code under test.
    struct Breaker {
        NudgeKind kind = NudgeKind::errors;
        ToolCall call;   // the last one
        ToolCall other;  // of a cycle, the one before
        Host::Duration until{0};
        std::string tried;
    };
    struct Calls {
        Generation generation = 0;
        testing::GuardModel model;
        std::optional<Breaker> breaker;
        bool is_unsure = false;  // of the breaker: a clock stood too near to say
    };

    Calls& calls_of(const SessionId& id, Generation generation, const Ledger& ledger,
                    const StepFacts& step);
    static void report(Calls& calls, const ToolReport& report, Host::Duration at);
    std::string judge_nudges(const Said& said, const Ledger& ledger, const StepFacts& step);
    std::string judge_check(const Said& said, const Ledger& ledger, const StepFacts& step);

    std::map<std::string, Calls> sessions_;
    std::vector<Nudge> due_;
};

}  // namespace knell::sim
