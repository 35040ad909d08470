#include "testing/schema_check.hpp"

#include <algorithm>
#include <ranges>
#include <regex>

#include <gtest/gtest.h>

#include "config/key_schema.hpp"
#include "config/yaml.hpp"

namespace knell::testing {

namespace {

Json to_json(const YamlNode& node) {
    switch (node.kind) {
        case YamlNode::Kind::nothing:
            return nullptr;
        case YamlNode::Kind::text: {
            if (node.is_quoted) return Json(node.text);
            if (const auto truth = yaml_boolean(node.text)) return *truth;
            const auto number = wire::parse_json(node.text);
            if (number && number->is_number()) return *number;
            // 010, 0x10: a number in a spelling that no key of ours takes.
            constexpr double no_whole_number = 0.5;
            return is_yaml_text(node) ? Json(node.text) : Json(no_whole_number);
        }
        case YamlNode::Kind::list: {
            JsonArray array;
            for (const auto& item : node.items) array.push_back(to_json(item));
            return array;
        }
        case YamlNode::Kind::map: {
            JsonObject object;
            for (const auto& item : node.items) object[item.key] = to_json(item);
            return object;
        }
    }
    return nullptr;
}

class Checker {
  public:
    static bool passes(const JsonObject& schema, const Json& value) {
        return std::ranges::all_of(schema, [&](const auto& rule) {
            return keeps(rule.key(), rule.value(), schema, value);
        });
    }

  private:
    static bool keeps(std::string_view word, const Json& rule, const JsonObject& schema,
                      const Json& value) {
        for (const auto* remark : {"$schema", "title", "description", "default"}) {
            if (word == remark) return true;
        }
        if (word == "type") return has_type(rule, value);
        if (word == "anyOf") return count_passed(rule, value) >= 1;
        if (word == "oneOf") return count_passed(rule, value) == 1;
        if (word == "minimum") return !value.is_int64() || value.as_int64() >= rule.as_int64();
        if (word == "maximum") return !value.is_int64() || value.as_int64() <= rule.as_int64();
        if (word.ends_with("Length") || word == "pattern") return keeps_text(word, rule, value);
        if (word.ends_with("Items") || word == "items") {
            return keeps_list(word, rule, schema, value);
        }
        return keeps_map(word, rule, schema, value);
    }
    static bool has_type(const Json& rule, const Json& value) {
        if (rule.is_array()) {
            return std::ranges::any_of(rule.as_array(),
                                       [&](const Json& type) { return has_type(type, value); });
        }
        const auto& type = rule.as_string();
        return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
               (type == "string" && value.is_string()) || (type == "boolean" && value.is_bool()) ||
               (type == "integer" && value.is_int64()) || (type == "number" && value.is_number()) ||
               (type == "null" && value.is_null());
    }
    static std::ptrdiff_t count_passed(const Json& rules, const Json& value) {
        return std::ranges::count_if(
            rules.as_array(), [&](const Json& rule) { return passes(rule.as_object(), value); });
    }
    static bool keeps_text(std::string_view word, const Json& rule, const Json& value) {
        const auto* text = value.if_string();
        if (text == nullptr) return true;
        const auto length = std::ranges::count_if(
            *text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
        if (word == "minLength") return length >= rule.as_int64();
        if (word == "maxLength") return length <= rule.as_int64();
        return std::regex_search(std::string(*text), std::regex(std::string(rule.as_string())));
    }
    static bool keeps_list(std::string_view word, const Json& rule, const JsonObject& schema,
                           const Json& value) {
        const auto* list = value.if_array();
        if (list == nullptr) return true;
        if (word == "minItems") return static_cast<std::int64_t>(list->size()) >= rule.as_int64();
        if (word == "maxItems") return static_cast<std::int64_t>(list->size()) <= rule.as_int64();
        const auto* prefix = schema.if_contains("prefixItems");
        if (word == "prefixItems") {
            const auto& rules = rule.as_array();
            for (std::size_t i = 0; i < std::min(rules.size(), list->size()); ++i) {
                if (!passes(rules[i].as_object(), (*list)[i])) return false;
            }
            return true;
        }
        const auto first = prefix == nullptr ? 0 : prefix->as_array().size();
        return std::ranges::all_of(*list | std::views::drop(first), [&](const Json& item) {
            return passes(rule.as_object(), item);
        });
    }
    static bool keeps_map(std::string_view word, const Json& rule, const JsonObject& schema,
                          const Json& value) {
        const auto* map = value.if_object();
        if (map == nullptr) return true;
        if (word == "required") {
            return std::ranges::all_of(
                rule.as_array(), [&](const Json& name) { return map->contains(name.as_string()); });
        }
        if (word == "properties") {
            return std::ranges::all_of(*map, [&](const auto& item) {
                const auto* found = rule.as_object().if_contains(item.key());
                return found == nullptr || passes(found->as_object(), item.value());
            });
        }
        EXPECT_EQ(word, "additionalProperties");
        const auto& known = schema.at("properties").as_object();
        return std::ranges::all_of(*map,
                                   [&](const auto& item) { return known.contains(item.key()); });
    }
};

}  // namespace

bool schema_accepts(const KeyTable& table, std::string_view yaml) {
    return Checker::passes(key_schema(table), to_json(parse_yaml(yaml, "/c").value()));
}

}  // namespace knell::testing
