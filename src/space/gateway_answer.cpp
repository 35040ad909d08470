#include "space/gateway_answer.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "core/limits.hpp"
#include "wire/space_fields.hpp"

namespace knell {

namespace {

using wire::Field;
using wire::FieldType;

bool is_good_text(const Field& field, const Json& value) {
    if (!value.is_string()) return false;
    const std::string_view text = value.get_string();
    if (text.size() > limits::title_bytes_max || has_control_character(text)) return false;
    if (field.type == FieldType::id) return !why_not_an_id(text);
    if (field.type == FieldType::time) return parse_rfc3339(text).has_value();
    if (field.type != FieldType::choice) return true;
    return std::ranges::find(field.choices, text) != field.choices.end();
}

bool is_good(const Field& field, const Json& value) {
    if (field.type == FieldType::integer) return value.is_int64();
    if (field.type == FieldType::boolean) return value.is_bool();
    return is_good_text(field, value);
}

/// What it says of itself of other gateways is not for us: it is asked for its own sessions.
bool is_ours_to_say(const Field& field) {
    return field.name == "gateway" || field.name == "stale";
}

std::optional<JsonObject> read_session(const Json& told) {
    const auto* object = told.if_object();
    if (object == nullptr) return std::nullopt;
    JsonObject session;
    for (const auto& field : wire::fields::sprite_fields) {
        if (is_ours_to_say(field)) continue;
        const auto* value = object->if_contains(field.name);
        if (value != nullptr && is_good(field, *value)) {
            session[field.name] = *value;
        } else if (field.required) {
            return std::nullopt;
        }
    }
    return session;
}

/// It is sent back in a header.
bool is_etag(std::string_view text) {
    return text.size() >= 2 && text.size() <= limits::word_bytes_max && text.starts_with('"') &&
           text.ends_with('"') &&
           std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

Result<GatewayAnswer> read_gateway_answer(std::string_view body) {
    const auto value = wire::parse_json(body);
    const auto* object = value ? value->if_object() : nullptr;
    const auto* sessions = object == nullptr ? nullptr : wire::array_at(*object, "sessions");
    if (sessions == nullptr) {
        return fail(ErrorCode::parse_error, "its answer is not a picture of sessions");
    }
    GatewayAnswer answer;
    if (const auto etag = wire::text_at(*object, "etag"); is_etag(etag)) answer.etag = etag;
    answer.is_truncated = wire::bool_at(*object, "truncated");
    for (const auto& told : *sessions) {
        if (auto session = read_session(told)) answer.sessions.push_back(std::move(*session));
    }
    return answer;
}

}  // namespace knell
