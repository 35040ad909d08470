#include "core/session.hpp"

namespace knell {

void count(Tally& tally, const Message& message) {
    ++tally.messages;
    (message.role == "assistant" ? tally.output_tokens : tally.input_tokens) += message.tokens;
}

Status status_of(const Session& session) {
    if (session.end) return Status::ended;
    if (session.turn_since) return Status::running;
    return Status::idle;
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
