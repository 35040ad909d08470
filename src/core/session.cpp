#include "core/session.hpp"

namespace knell {

void count(Tally& tally, const Message& message) {
    ++tally.messages;
    (message.role == "assistant" ? tally.output_tokens : tally.input_tokens) += message.tokens;
}

Status status_of(const StatusFacts& facts) {
    if (facts.ended) return Status::ended;
    if (facts.unknown) return Status::unknown;
    if (facts.stalled) return Status::stalled;
    if (facts.parked) return Status::detached;
    return facts.turn ? Status::running : Status::idle;
}

Status status_of(const Session& session) {
    return status_of({.ended = session.end.has_value(),
                      .unknown = session.unknown_since.has_value(),
                      .stalled = session.stalled_since.has_value(),
                      .parked = session.parked_since.has_value(),
                      .turn = session.turn_since.has_value()});
}

Fold fold_of(const Session& session) {
    const bool by_machine = session.source == "subagent" || session.source == "cron" ||
                            session.relation == Relation::subagent;
    if (by_machine) return Fold::origin;
    // A title is a person's or a wrapper's word that something happened here.
    const bool nothing_said = session.tally.messages == 0 && session.title.empty();
    if (session.end && nothing_said) return Fold::empty;
    return Fold::shown;
}

}  // namespace knell
