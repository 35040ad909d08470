#include "wire/session_json.hpp"

#include "wire/fields.hpp"
#include "wire/object_sink.hpp"

namespace knell::wire {

JsonObject to_json(const Owner& owner) {
    JsonObject object;
    object["kind"] = name_in(owner_kind_names, owner.kind);
    if (owner.kind == OwnerKind::process) object["pid"] = owner.process.pid;
    const bool is_hosted = owner.kind == OwnerKind::hosted;
    if (owner.lease_ttl.count() > 0) {
        object[is_hosted ? "window_s" : "lease_ttl_s"] = owner.lease_ttl.count();
    }
    if (owner.kind == OwnerKind::lease && owner.process.pid != 0) {
        object["stands_for"] =
            JsonObject{{"pid", owner.process.pid}, {"pid_namespace", owner.process.pid_namespace}};
    }
    put(object, "host", owner.host);
    put(object, "command", owner.command);
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
    ObjectSink sink(object);
    if (session.end) list_fields(sink, *session.end);
    list_fields(sink, session.tally);
    object["owner"] = to_json(session.owner);
    object["on_owner_loss"] = name_in(on_owner_loss_names, session.on_owner_loss);
    if (session.park_window.count() > 0) object["park_s"] = session.park_window.count();
    if (!session.end) put(object, "last_seen_at", session.last_seen_at);
    if (session.unknown_since) put(object, "unknown_since", *session.unknown_since);
    if (session.stalled_since) put(object, "stalled_since", *session.stalled_since);
    if (session.parked_since) put(object, "parked_since", *session.parked_since);
    if (session.parked_before) put(object, "parked_before", *session.parked_before);
    put(object, "park_why", session.park_why);
    object["attached"] = session.attached;
    if (session.detached_since) put(object, "detached_since", *session.detached_since);
    object["turn"] = session.turn_since.has_value();
    if (session.turn_since) put(object, "turn_since", *session.turn_since);
    if (session.background_since) put(object, "background_since", *session.background_since);
    object["pinned"] = session.pinned;
    if (!session.meta.empty()) {
        if (auto meta = parse_json(session.meta)) object["meta"] = std::move(*meta);
    }
    return object;
}

JsonArray to_json(const std::vector<Leftover>& leftovers) {
    JsonArray array;
    for (const auto& leftover : leftovers) {
        JsonObject object{{"pid", leftover.process.pid},
                          {"start_ticks", leftover.process.start_ticks},
                          {"found_by", leftover.found_by},
                          {"command", leftover.command}};
        put(object, "fate", name_in(fate_names, leftover.fate));
        put(object, "process_id", leftover.process_id.text());
        array.push_back(std::move(object));
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
    ObjectSink sink(object);
    list_fields(sink, event, node_id);
    return object;
}

}  // namespace knell::wire
