#include "testing/field_check.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/time.hpp"

namespace knell::testing {

using wire::Field;
using wire::FieldType;

namespace {

std::string breach_in(const Field& field, FieldType type, const Json& value);

std::string breach_in_array(const Field& field, const Json& value) {
    if (!value.is_array()) return "is no array";
    for (const auto& item : value.get_array()) {
        if (auto breach = breach_in(field, field.items, item); !breach.empty()) return breach;
    }
    return {};
}

std::string breach_in_text(const Field& field, FieldType type, const Json& value) {
    if (!value.is_string()) return "is no string";
    const std::string_view text = value.get_string();
    if (type == FieldType::time && !parse_rfc3339(text)) return "is no time";
    if (type != FieldType::choice || std::ranges::find(field.choices, text) != field.choices.end())
        return {};
    return fmt::format("is {}, which is none of its choices", text);
}

std::string breach_in(const Field& field, FieldType type, const Json& value) {
    switch (type) {
        case FieldType::text:
        case FieldType::content:
        case FieldType::word:
        case FieldType::id:
        case FieldType::time:
        case FieldType::choice:
            return breach_in_text(field, type, value);
        case FieldType::integer:
            return value.is_int64() || value.is_uint64() ? "" : "is no integer";
        case FieldType::number:
            return value.is_number() ? "" : "is no number";
        case FieldType::boolean:
            return value.is_bool() ? "" : "is no boolean";
        case FieldType::object:
            if (!value.is_object()) return "is no object";
            return field.fields.empty() ? "" : breach_of(field.fields, value.get_object());
        case FieldType::array:
            return breach_in_array(field, value);
        case FieldType::any:
            return {};
    }
    return {};
}

}  // namespace

std::string breach_of(std::span<const Field> rows, const JsonObject& object) {
    for (const auto& [name, value] : object) {
        const auto row = std::ranges::find(rows, std::string_view(name), &Field::name);
        if (row == rows.end()) return fmt::format("{} is in no row", std::string_view(name));
        if (auto breach = breach_in(*row, row->type, value); !breach.empty()) {
            return fmt::format("{}: {}", row->name, breach);
        }
    }
    for (const auto& row : rows) {
        if (row.required && !object.contains(row.name)) {
            return fmt::format("{} is missing", row.name);
        }
        if (row.required != row.when.empty()) {
            return fmt::format("{} does not say when it is there", row.name);
        }
    }
    return {};
}

bool is_row(std::span<const Field> rows, std::string_view path) {
    const auto dot = path.find('.');
    const auto first = path.substr(0, dot);
    const auto row = std::ranges::find(rows, first.substr(0, first.find('[')), &Field::name);
    if (row == rows.end()) return false;
    return dot == std::string_view::npos || is_row(row->fields, path.substr(dot + 1));
}

}  // namespace knell::testing
