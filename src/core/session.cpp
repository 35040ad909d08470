#include "core/session.hpp"

#include <limits>

#include "core/limits.hpp"

namespace knell {

void count(Tally& tally, const Message& message) {
    ++tally.messages;
    auto& sum = message.role == "assistant" ? tally.output_tokens : tally.input_tokens;
    if (__builtin_add_overflow(sum, message.tokens, &sum)) {
        sum = std::numeric_limits<std::int64_t>::max();
    }
}

Status status_of(const StatusFacts& facts) {
    if (facts.ended) return Status::ended;
    if (facts.unknown) return Status::unknown;
    if (facts.stalled) return Status::stalled;
    if (facts.turn) return Status::running;
    if (facts.attached) return Status::attached;
    if (facts.background) return Status::background;
    return facts.detached ? Status::detached : Status::idle;
}

Status status_of(const Session& session) {
    return status_of({.ended = session.end.has_value(),
                      .unknown = session.unknown_since.has_value(),
                      .stalled = session.stalled_since.has_value(),
                      .turn = session.turn_since.has_value(),
                      .attached = session.attached > 0,
                      .background = session.background_since.has_value(),
                      .detached = session.parked_since || session.owner.kind == OwnerKind::hosted});
}

bool is_active(const Session& session, WallTime now) {
    if (session.end) return false;
    const bool is_idle = !session.turn_since && !session.background_since &&
                         !session.unknown_since && !session.stalled_since;
    if (!is_idle || !session.detached_since) return true;
    return now - *session.detached_since < limits::detached_grace;
}

bool is_by_machine(std::string_view source, Relation relation) {
    return source == "subagent" || source == "cron" || relation == Relation::subagent;
}

Fold fold_of(const FoldFacts& facts) {
    if (facts.by_machine) return Fold::origin;
    const bool declared = facts.ended && row_of(*facts.ended).proof == Proof::declared;
    return declared && facts.nothing_said ? Fold::empty : Fold::shown;
}

Fold fold_of(const Session& session) {
    return fold_of({.by_machine = is_by_machine(session.source, session.relation),
                    .nothing_said = session.tally.messages == 0 && session.title.empty(),
                    .ended = session.end ? std::optional(session.end->reason) : std::nullopt});
}

}  // namespace knell
