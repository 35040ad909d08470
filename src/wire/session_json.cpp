#include "wire/session_json.hpp"

#include "wire/fields.hpp"
#include "wire/object_sink.hpp"
#include "wire/text_sink.hpp"

namespace knell::wire {

JsonObject to_json(const Owner& owner) {
    JsonObject object;
    ObjectSink sink(object);
    list_fields(sink, owner);
    return object;
}

JsonObject to_json(const Session& session) {
    JsonObject object;
    ObjectSink sink(object);
    list_fields(sink, session);
    return object;
}

void append_session(std::string& out, const Session& session) {
    TextSink sink(out);
    list_fields(sink, session);
    sink.finish();
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

JsonArray to_json(const std::vector<Blocker>& blockers) {
    JsonArray array;
    for (const auto& blocker : blockers) {
        JsonObject object;
        ObjectSink sink(object);
        list_fields(sink, blocker);
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
