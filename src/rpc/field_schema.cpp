#include "rpc/field_schema.hpp"

#include <string>

#include "core/limits.hpp"

namespace knell::rpc {

namespace {

using wire::Field;
using wire::FieldType;

/// Rows count bytes and JSON Schema counts characters: what is too long here is too long there.
void put_text_bounds(JsonObject& schema, const Field& field, Direction direction) {
    if (direction == Direction::answer || field.type == FieldType::content) return;
    const auto bytes_max =
        field.max > 0 ? field.max : static_cast<std::int64_t>(limits::word_bytes_max);
    if (field.type != FieldType::id) schema["maxLength"] = bytes_max;
    if (!field.may_be_empty) schema["minLength"] = 1;
}

JsonArray words_of(std::span<const std::string_view> choices) {
    JsonArray words;
    for (const auto word : choices) {
        if (!word.empty()) words.emplace_back(word);
    }
    return words;
}

JsonObject reference(std::string_view object) {
    return {{"$ref", "#/components/schemas/" + std::string(object)}};
}

/// Of a field, or of an array's items.
JsonObject plain_schema(const Field& field, FieldType type, Direction direction) {
    if (type == FieldType::object && !field.object.empty()) return reference(field.object);
    if (type == FieldType::object && !field.fields.empty()) {
        return schema_of(field.fields, direction);
    }
    JsonObject schema;
    if (type != FieldType::any) schema["type"] = wire::json_type(type);
    if (type == FieldType::time) schema["format"] = "date-time";
    if (type == FieldType::choice) schema["enum"] = words_of(field.choices);
    if (direction == Direction::answer) return schema;
    if (type == FieldType::word) schema["pattern"] = "^[A-Za-z0-9._-]*$";
    if (type == FieldType::id) {
        schema["pattern"] = "^[A-Za-z0-9_:@+=-][A-Za-z0-9._:@+=-]*$";
        schema["maxLength"] = limits::id_bytes_max;
    }
    return schema;
}

void put_bounds(JsonObject& schema, const Field& field, Direction direction) {
    switch (field.type) {
        case FieldType::text:
        case FieldType::content:
        case FieldType::word:
        case FieldType::id:
            return put_text_bounds(schema, field, direction);
        case FieldType::integer:
            if (field.max == 0) return;
            schema["minimum"] = field.min;
            if (field.max != wire::unbounded) schema["maximum"] = field.max;
            return;
        case FieldType::array:
            if (field.min > 0) schema["minItems"] = field.min;
            if (field.max > 0) schema["maxItems"] = field.max;
            return;
        case FieldType::time:
        case FieldType::number:
        case FieldType::boolean:
        case FieldType::choice:
        case FieldType::object:
        case FieldType::any:
            return;
    }
}

}  // namespace

Json standard_of(const Field& field) {
    if (!field.standard) return nullptr;
    if (field.type == FieldType::boolean) return *field.standard != 0;
    if (field.type != FieldType::choice) return *field.standard;
    const auto name = field.choices[static_cast<std::size_t>(*field.standard)];
    return name.empty() ? Json(nullptr) : Json(name);
}

JsonObject schema_of(const Field& field, Direction direction) {
    JsonObject schema;
    if (field.type == FieldType::array) {
        schema["type"] = "array";
        schema["items"] = plain_schema(field, field.items, direction);
    } else {
        schema = plain_schema(field, field.type, direction);
    }
    put_bounds(schema, field, direction);
    if (auto standard = standard_of(field); !standard.is_null()) schema["default"] = standard;
    auto about = std::string(field.about);
    if (!field.when.empty()) about += " (when: " + std::string(field.when) + ")";
    schema["description"] = about;
    return schema;
}

JsonObject schema_of(std::span<const Field> fields, Direction direction) {
    JsonObject properties;
    JsonArray required;
    for (const auto& field : fields) {
        properties[field.name] = schema_of(field, direction);
        if (field.required) required.emplace_back(field.name);
    }
    JsonObject schema{{"type", "object"}};
    if (!properties.empty()) schema["properties"] = std::move(properties);
    if (!required.empty()) schema["required"] = std::move(required);
    return schema;
}

}  // namespace knell::rpc
