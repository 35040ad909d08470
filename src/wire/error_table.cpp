#include "wire/error_table.hpp"

#include <algorithm>

#include "wire/session_json.hpp"

namespace knell::wire {

namespace {

void add_facts(JsonObject& data, const ErrorFacts& facts) {
    if (const auto* owned = std::get_if<OwnedBy>(&facts)) {
        data["owner"] = to_json(owned->owner);
        data["generation"] = owned->generation;
        data["status"] = name_in(status_names, owned->status);
        data["how_known"] = owned->how_known;
        data["offers"] = JsonArray{"takeover"};
    } else if (const auto* fenced = std::get_if<FencedBy>(&facts)) {
        data["generation"] = fenced->generation;
    } else if (const auto* ended = std::get_if<EndedAs>(&facts)) {
        data["reason"] = name_of(ended->reason);
        data["ended_at"] = format_rfc3339(ended->ended_at);
        data["generation"] = ended->generation;
        if (!ended->successor.empty()) data["successor"] = ended->successor.text();
    } else if (const auto* blocked = std::get_if<BlockedBy>(&facts)) {
        data["blockers"] = to_json(blocked->blockers);
    } else if (const auto* unowned = std::get_if<Unowned>(&facts)) {
        data["status"] = name_in(status_names, unowned->status);
        data["parked_since"] = format_rfc3339(unowned->since);
        data["generation"] = unowned->generation;
        data["offers"] = JsonArray{"session.resume"};
    }
}

}  // namespace

JsonObject to_json(const Error& error) {
    const auto& row = row_of(error.code);
    JsonObject data;
    data["kind"] = row.name;
    if (!error.field.empty()) data["field"] = error.field;
    add_facts(data, error.facts);
    JsonObject object;
    object["code"] = row.json_rpc;
    object["message"] = error.message;
    object["data"] = std::move(data);
    return object;
}

Error error_from_json(const JsonObject& object) {
    Error error;
    error.message = text_at(object, "message");
    const auto* data = object_at(object, "data");
    const auto kind = data == nullptr ? std::string_view{} : text_at(*data, "kind");
    const auto code = int_at(object, "code");
    const auto same = [&](const ErrorRow& row) {
        return kind.empty() ? row.json_rpc == code : row.name == kind;
    };
    const auto row = std::ranges::find_if(error_table, same);
    error.code = row == error_table.end() ? ErrorCode::internal : row->code;
    if (data != nullptr) error.field = text_at(*data, "field");
    return error;
}

}  // namespace knell::wire
