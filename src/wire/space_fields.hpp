#pragma once

#include "wire/session_fields.hpp"

/// What space.activity tells of a session: enough to draw it, without what it says.
namespace knell::wire::fields {

inline constexpr std::array sprite_fields{
    always("id", id, "of the session"),
    only("of another gateway", "gateway", text, "its name in `space.gateways`"),
    only("its gateway does not answer", "stale", boolean, "true: this is what was last heard"),
    always("node", text, "the node it is on"),
    only("given", "key", text, "routing key"),
    always("source", word, "where it comes from"),
    only("given", "platform", word, "where its user writes"),
    only("given", "title", text, "for people"),
    only("it has one", "parent_id", id, "the session it came out of"),
    Field{.name = "relation",
          .type = choice,
          .choices = names_of<Relation>,
          .when = "it has a parent",
          .about = "how it came out of it"},
    always("generation", integer, "rises with each owner"),
    always_one_of<Status>("status", "as session.list has it"),
    always("status_since", time, "since when; of an idle one, its last activity"),
    always("started_at", time, "when this generation was opened"),
    always("last_activity_at", time, "its last message or turn"),
    always("message_count", integer, "messages on record"),
    only("its gateway counts them", "turn_count", integer, "turns begun"),
    only("ended", "ended_at", time, "when it ended"),
    only("ended", "reason", word, "why it ended"),
    Field{.name = "proof",
          .type = choice,
          .choices = names_of<Proof>,
          .when = "ended",
          .about = "how that is known"},
};

}  // namespace knell::wire::fields
