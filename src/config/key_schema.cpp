#include "config/key_schema.hpp"

#include <fmt/format.h>

#include "config/number_pattern.hpp"
#include "config/setting.hpp"

namespace knell {

namespace {

JsonObject object_schema(const KeyTable& table, std::string_view section);

/// What `has_control_character` allows.
constexpr std::string_view one_line = "^[^\\x00-\\x1f\\x7f]*$";

/// A key without a value is as good as missing, which one that is required may not be.
bool may_be_null(const Key& key) {
    return key.presence != Presence::required;
}

Json type_of(const Key& key, std::string_view type) {
    if (!may_be_null(key)) return Json(type);
    return JsonArray{Json(type), Json("null")};
}

JsonObject text_schema(const Key& key) {
    JsonObject schema{
        {"type", type_of(key, "string")}, {"minLength", key.min}, {"maxLength", key.max}};
    schema["pattern"] = key.pattern.empty() ? one_line : key.pattern;
    return schema;
}

/// Taken as it is written, also where YAML sees a number.
JsonObject prose_schema(const Key& key) {
    JsonArray types{Json("string"), Json("number"), Json("boolean")};
    if (may_be_null(key)) types.push_back(Json("null"));
    return JsonObject{{"type", std::move(types)}, {"maxLength", key.max}};
}

JsonObject duration_schema(const Key& key) {
    const auto unit = key.bare_unit().count();
    JsonArray forms{
        JsonObject{{"type", "integer"}, {"minimum", key.min / unit}, {"maximum", key.max / unit}},
        JsonObject{{"type", "string"},
                   {"pattern", duration_pattern(std::chrono::seconds{key.min},
                                                std::chrono::seconds{key.max}, key.bare_unit())}}};
    if (may_be_null(key)) forms.push_back(JsonObject{{"type", "null"}});
    return JsonObject{{"anyOf", std::move(forms)}};
}

JsonObject time_of_day_schema(const Key& key) {
    JsonArray forms{
        JsonObject{{"type", "integer"}, {"minimum", 0}, {"maximum", 23}},
        JsonObject{{"type", "string"}, {"pattern", "^([01]?[0-9]|2[0-3])(:[0-5][0-9])?$"}}};
    if (may_be_null(key)) forms.push_back(JsonObject{{"type", "null"}});
    return JsonObject{{"anyOf", std::move(forms)}};
}

JsonObject texts_schema(const Key& key) {
    // 5 in a list of words is the word "5".
    JsonObject text{{"type", JsonArray{Json("string"), Json("number"), Json("boolean")}},
                    {"pattern", one_line}};
    JsonObject filled = text;
    filled["minLength"] = 1;
    JsonObject list{{"type", "array"}, {"minItems", key.min}, {"maxItems", key.max}};
    if (key.type == KeyType::command) {
        list["prefixItems"] = JsonArray{filled};  // the program; its arguments may be empty
        list["items"] = std::move(text);
    } else {
        list["items"] = filled;
    }
    JsonArray forms{std::move(filled), std::move(list)};
    if (may_be_null(key)) forms.push_back(JsonObject{{"type", "null"}});
    return JsonObject{{"anyOf", std::move(forms)}};
}

JsonObject value_schema(const KeyTable& table, const Key& key) {
    switch (key.type) {
        case KeyType::integer:
            return JsonObject{
                {"type", type_of(key, "integer")}, {"minimum", key.min}, {"maximum", key.max}};
        case KeyType::duration:
            return duration_schema(key);
        case KeyType::time_of_day:
            return time_of_day_schema(key);
        case KeyType::boolean:
            return JsonObject{{"type", type_of(key, "boolean")}};
        case KeyType::text:
        case KeyType::path:
            return text_schema(key);
        case KeyType::prose:
            return prose_schema(key);
        case KeyType::texts:
        case KeyType::command:
            return texts_schema(key);
        case KeyType::items:
            return JsonObject{{"type", type_of(key, "array")},
                              {"maxItems", key.max},
                              {"items", object_schema(table, fmt::format("{}[].", key.path))}};
    }
    return {};
}

JsonObject property_schema(const KeyTable& table, const Key& key) {
    auto schema = value_schema(table, key);
    schema["description"] = fmt::format("{} ({}).", key.about, describe_values(key));
    if (const auto value = default_value(key)) schema["default"] = json_value(key, *value);
    return schema;
}

/// That it is there and says something; of a list, that something is in it.
JsonObject alternative(const Key& key) {
    const auto something = key.type == KeyType::items
                               ? JsonObject{{"type", "array"}, {"minItems", 1}}
                               : JsonObject{{"type", "string"}};
    return JsonObject{{"required", JsonArray{Json(key.name())}},
                      {"properties", JsonObject{{key.name(), something}}}};
}

/// A map may be left empty, unless it is an item of a list or something in it is required.
Json map_type(std::string_view section, bool has_required) {
    if (section.ends_with("[].") || has_required) return Json("object");
    return JsonArray{Json("object"), Json("null")};
}

JsonObject object_schema(const KeyTable& table, std::string_view section) {
    JsonObject properties;
    JsonArray required;
    JsonArray at_least_one;
    JsonArray exactly_one;
    for (const auto name : table.names_in(section)) {
        const auto path = fmt::format("{}{}", section, name);
        const auto* key = table.find(path);
        if (key == nullptr) {
            properties[name] = object_schema(table, path + ".");
            continue;
        }
        properties[name] = property_schema(table, *key);
        if (key->presence == Presence::required) required.emplace_back(name);
        if (key->presence == Presence::one_of) at_least_one.push_back(alternative(*key));
        if (key->presence == Presence::exactly_one) exactly_one.push_back(alternative(*key));
    }
    JsonObject schema{{"type", map_type(section, !required.empty())},
                      {"properties", std::move(properties)}};
    if (!required.empty()) schema["required"] = std::move(required);
    if (!at_least_one.empty()) schema["anyOf"] = std::move(at_least_one);
    if (!exactly_one.empty()) schema["oneOf"] = std::move(exactly_one);
    if (!table.is_shared) schema["additionalProperties"] = false;
    return schema;
}

}  // namespace

JsonObject key_schema(const KeyTable& table) {
    JsonObject schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                      {"title", fmt::format("{} of knell", table.file)}};
    for (auto& [name, value] : object_schema(table, "")) schema[name] = std::move(value);
    return schema;
}

}  // namespace knell
