#include "wire/json.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/limits.hpp"

namespace knell::wire {

namespace json = boost::json;

Result<Json> parse_json(std::string_view text) {
    if (!is_utf8(text)) return fail(ErrorCode::parse_error, "the text is not valid UTF-8");
    json::parse_options options;
    options.max_depth = limits::json_depth_max;
    boost::system::error_code error;
    Json value = json::parse(text, error, {}, options);
    if (error == json::error::too_deep) {
        return fail(ErrorCode::parse_error,
                    fmt::format("nested deeper than {} levels", limits::json_depth_max));
    }
    if (error) return fail(ErrorCode::parse_error, "not JSON: " + error.message());
    return value;
}

std::string to_text(const Json& value) {
    return json::serialize(value);
}

namespace {

void write_pretty(std::string& out, const Json& value, std::size_t indent) {
    const auto line = [&](std::size_t depth) {
        out += '\n';
        out.append(depth * 2, ' ');
    };
    if (const auto* object = value.if_object(); object != nullptr && !object->empty()) {
        out += '{';
        const char* comma = "";
        for (const auto& [name, member] : *object) {
            out += comma;
            comma = ",";
            line(indent + 1);
            out += json::serialize(Json(name)) + ": ";
            write_pretty(out, member, indent + 1);
        }
        line(indent);
        out += '}';
    } else if (const auto* array = value.if_array(); array != nullptr && !array->empty()) {
        out += '[';
        const char* comma = "";
        for (const auto& element : *array) {
            out += comma;
            comma = ",";
            line(indent + 1);
            write_pretty(out, element, indent + 1);
        }
        line(indent);
        out += ']';
    } else {
        out += json::serialize(value);
    }
}

}  // namespace

std::string to_pretty_text(const Json& value) {
    std::string out;
    write_pretty(out, value, 0);
    return out;
}

std::string_view text_at(const JsonObject& object, std::string_view name) {
    const auto* value = object.if_contains(name);
    if (value == nullptr || !value->is_string()) return {};
    return value->get_string();
}

std::int64_t int_at(const JsonObject& object, std::string_view name, std::int64_t fallback) {
    const auto* value = object.if_contains(name);
    if (value == nullptr) return fallback;
    boost::system::error_code error;
    const auto number = value->to_number<std::int64_t>(error);
    return error ? fallback : number;
}

bool bool_at(const JsonObject& object, std::string_view name) {
    const auto* value = object.if_contains(name);
    return value != nullptr && value->is_bool() && value->get_bool();
}

const JsonObject* object_at(const JsonObject& object, std::string_view name) {
    const auto* value = object.if_contains(name);
    return value == nullptr ? nullptr : value->if_object();
}

const JsonArray* array_at(const JsonObject& object, std::string_view name) {
    const auto* value = object.if_contains(name);
    return value == nullptr ? nullptr : value->if_array();
}

}  // namespace knell::wire
