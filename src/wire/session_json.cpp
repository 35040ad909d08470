#include "wire/session_json.hpp"

namespace knell::wire {

namespace {

void put(JsonObject& object, std::string_view name, std::string_view value) {
    if (!value.empty()) object[name] = value;
}

void put(JsonObject& object, std::string_view name, WallTime value) {
    object[name] = format_rfc3339(value);
}

void put_end(JsonObject& object, const End& end) {
    put(object, "ended_at", end.ended_at);
    put(object, "ended_after", end.ended_after);
    put(object, "ended_before", end.ended_before);
    object["reason"] = name_of(end.reason);
    object["proof"] = name_in(proof_names, end.proof());
    put(object, "detail", end.detail);
    put(object, "evidence", end.evidence);
    if (!end.leftovers.empty()) object["leftovers"] = to_json(end.leftovers);
}

void put_tally(JsonObject& object, const Tally& tally) {
    object["message_count"] = tally.messages;
    object["input_tokens"] = tally.input_tokens;
    object["output_tokens"] = tally.output_tokens;
}

}  // namespace

JsonObject to_json(const Owner& owner) {
    JsonObject object;
    object["kind"] = name_in(owner_kind_names, owner.kind);
    if (owner.kind == OwnerKind::process) object["pid"] = owner.process.pid;
    if (owner.lease_ttl.count() > 0) object["lease_ttl_s"] = owner.lease_ttl.count();
    put(object, "host", owner.host);
    put(object, "since", owner.since);
    return object;
}

JsonObject to_json(const Session& session) {
    JsonObject object;
    object["id"] = session.id.text();
    put(object, "key", session.key);
    put(object, "source", session.source);
    put(object, "platform", session.platform);
    put(object, "user_id", session.user_id);
    put(object, "parent_id", session.parent_id.text());
    put(object, "relation", name_in(relation_names, session.relation));
    object["generation"] = session.generation;
    object["status"] = name_in(status_names, status_of(session));
    put(object, "model", session.model);
    put(object, "title", session.title);
    put(object, "cwd", session.cwd);
    put(object, "started_at", session.started_at);
    put(object, "last_activity_at", session.last_activity_at);
    if (session.end) put_end(object, *session.end);
    put_tally(object, session.tally);
    object["owner"] = to_json(session.owner);
    object["on_owner_loss"] = name_in(on_owner_loss_names, session.on_owner_loss);
    if (session.park_window.count() > 0) object["park_s"] = session.park_window.count();
    if (!session.end) put(object, "last_seen_at", session.last_seen_at);
    if (session.unknown_since) put(object, "unknown_since", *session.unknown_since);
    if (session.stalled_since) put(object, "stalled_since", *session.stalled_since);
    if (session.parked_since) put(object, "parked_since", *session.parked_since);
    object["attached"] = session.attached;
    object["turn"] = session.turn_since.has_value();
    if (session.turn_since) put(object, "turn_since", *session.turn_since);
    object["pinned"] = session.pinned;
    if (!session.meta.empty()) {
        if (auto meta = parse_json(session.meta)) object["meta"] = std::move(*meta);
    }
    return object;
}

JsonArray to_json(const std::vector<Leftover>& leftovers) {
    JsonArray array;
    for (const auto& leftover : leftovers) {
        array.push_back(JsonObject{{"pid", leftover.pid},
                                   {"start_ticks", leftover.start_ticks},
                                   {"found_by", leftover.found_by},
                                   {"command", leftover.command}});
    }
    return array;
}

JsonObject to_json(const Message& message) {
    JsonObject object;
    object["role"] = message.role;
    object["content"] = message.content;
    put(object, "tool_name", message.tool_name);
    if (message.tokens != 0) object["tokens"] = message.tokens;
    return object;
}

JsonObject to_json(const Event& event, std::string_view node_id) {
    JsonObject object;
    object["seq"] = event.seq;
    object["id"] = event_id(event, node_id);
    object["type"] = name_in(event_type_names, event.type);
    put(object, "time", event.time);
    if (event.session_id.empty()) return object;
    object["session_id"] = event.session_id.text();
    put(object, "session_key", event.session_key);
    object["generation"] = event.generation;
    put(object, "platform", event.platform);
    put(object, "user_id", event.user_id);
    put(object, "source", event.source);
    put(object, "parent_id", event.parent_id.text());
    put(object, "relation", name_in(relation_names, event.relation));
    put(object, "started_at", event.started_at);
    if (event.end) {
        put_end(object, *event.end);
        put_tally(object, event.tally);
    } else {
        put(object, "detail", event.detail);
    }
    return object;
}

}  // namespace knell::wire
