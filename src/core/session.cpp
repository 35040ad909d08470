#include "core/session.hpp"

#include <limits>

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
    if (facts.parked) return Status::detached;
    if (facts.turn) return Status::running;
    return facts.attached ? Status::attached : Status::idle;
}

Status status_of(const Session& session) {
    return status_of({.ended = session.end.has_value(),
                      .unknown = session.unknown_since.has_value(),
                      .stalled = session.stalled_since.has_value(),
                      .parked = session.parked_since.has_value(),
                      .turn = session.turn_since.has_value(),
                      .attached = session.attached > 0});
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
