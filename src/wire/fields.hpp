#pragma once

#include <string_view>

#include "core/event.hpp"

/// The fields of the client contract that go out in more than one form: as an object, to be looked
/// into, and straight as text, for feeds.  Listed once, so that the forms cannot come apart.
///
/// A Sink has `text` and `leftovers`, which leave out what is empty, `number`, `flag` and `time`.
namespace knell::wire {

template <typename Sink>
void list_fields(Sink& sink, const End& end) {
    sink.time("ended_at", end.ended_at);
    sink.time("ended_after", end.ended_after);
    sink.time("ended_before", end.ended_before);
    sink.text("reason", name_of(end.reason));
    sink.text("proof", name_in(proof_names, end.proof));
    sink.text("detail", end.detail);
    sink.text("evidence", end.evidence);
    sink.leftovers("leftovers", end.leftovers);
}

template <typename Sink>
void list_fields(Sink& sink, const Tally& tally) {
    sink.number("message_count", tally.messages);
    sink.number("input_tokens", tally.input_tokens);
    sink.number("output_tokens", tally.output_tokens);
}

template <typename Sink>
void list_fields(Sink& sink, const Event& event, std::string_view node_id) {
    sink.number("seq", event.seq);
    sink.text("id", event_id(event, node_id));
    sink.text("type", name_in(event_type_names, event.type));
    sink.time("time", event.time);
    if (event.session_id.empty()) {
        sink.text("detail", event.detail);
        return;
    }
    sink.text("session_id", event.session_id.text());
    sink.text("session_key", event.session_key);
    sink.number("generation", event.generation);
    sink.text("platform", event.platform);
    sink.text("user_id", event.user_id);
    sink.text("source", event.source);
    sink.text("parent_id", event.parent_id.text());
    sink.text("relation", name_in(relation_names, event.relation));
    sink.text("title", event.title);
    sink.text("cwd", event.cwd);
    sink.text("command", event.command);
    if (event.pid != 0) sink.number("pid", event.pid);
    sink.text("host", event.host);
    sink.time("started_at", event.started_at);
    if (event.end) {
        list_fields(sink, *event.end);
        list_fields(sink, event.tally);
    } else if (event.labels) {
        sink.flag("pinned", event.labels->pinned);
    } else {
        sink.text("detail", event.detail);
    }
}

}  // namespace knell::wire
