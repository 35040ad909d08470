#include "wire/json.hpp"

#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/limits.hpp"

namespace knell::wire {

namespace json = boost::json;

namespace {

/// Where a number is that is too large for a double, as "params.meta.0.x"; nothing when all are
/// finite.
std::optional<std::string> path_to_infinity(const Json& value) {
    const auto joined = [](std::string_view name, const std::string& rest) {
        return std::string(name) + (rest.empty() ? "" : "." + rest);
    };
    if (const auto* number = value.if_double()) {
        return std::isfinite(*number) ? std::nullopt : std::optional<std::string>{""};
    }
    if (const auto* object = value.if_object()) {
        for (const auto& [name, member] : *object) {
            if (const auto path = path_to_infinity(member)) return joined(name, *path);
        }
    } else if (const auto* array = value.if_array()) {
        for (std::size_t i = 0; i < array->size(); ++i) {
            if (const auto path = path_to_infinity((*array)[i])) {
                return joined(fmt::to_string(i), *path);
            }
        }
    }
    return std::nullopt;
}

}  // namespace

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
    // Kept, it would be written as something that is not JSON.
    if (const auto path = path_to_infinity(value)) {
        return fail(ErrorCode::parse_error,
                    fmt::format("{:.200}{}the number is too large; at most 1.8e308 can be kept",
                                *path, path->empty() ? "" : ": "));
    }
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
