// The schema and the reader are two opinions on one text: they must agree on all of these.

#include "config/config_schema.hpp"

#include <algorithm>
#include <regex>

#include <gtest/gtest.h>

#include "config/config.hpp"
#include "config/yaml.hpp"

namespace knell {
namespace {

/// A YAML document as JSON, as an editor sees it.
Json to_json(const YamlNode& node) {
    switch (node.kind) {
        case YamlNode::Kind::nothing:
            return nullptr;
        case YamlNode::Kind::text: {
            if (node.is_quoted) return Json(node.text);
            if (node.text == "true" || node.text == "false") return node.text == "true";
            const auto number = wire::parse_json(node.text);
            return number && number->is_number() ? *number : Json(node.text);
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

/// What of JSON Schema our schema uses; a keyword that is unknown here fails the test.
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
        if (word.ends_with("Items") || word == "items") return keeps_list(word, rule, value);
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
               (type == "integer" && value.is_int64()) || (type == "null" && value.is_null());
    }
    static std::ptrdiff_t count_passed(const Json& rules, const Json& value) {
        return std::ranges::count_if(
            rules.as_array(), [&](const Json& rule) { return passes(rule.as_object(), value); });
    }
    static bool keeps_text(std::string_view word, const Json& rule, const Json& value) {
        const auto* text = value.if_string();
        if (text == nullptr) return true;
        if (word == "minLength") return static_cast<std::int64_t>(text->size()) >= rule.as_int64();
        if (word == "maxLength") return static_cast<std::int64_t>(text->size()) <= rule.as_int64();
        return std::regex_search(std::string(*text), std::regex(std::string(rule.as_string())));
    }
    static bool keeps_list(std::string_view word, const Json& rule, const Json& value) {
        const auto* list = value.if_array();
        if (list == nullptr) return true;
        if (word == "minItems") return static_cast<std::int64_t>(list->size()) >= rule.as_int64();
        if (word == "maxItems") return static_cast<std::int64_t>(list->size()) <= rule.as_int64();
        return std::ranges::all_of(
            *list, [&](const Json& item) { return passes(rule.as_object(), item); });
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

bool schema_accepts(std::string_view text) {
    return Checker::passes(config_schema(), to_json(parse_yaml(text, "/c").value()));
}
bool reader_accepts(std::string_view text) {
    return parse_config(text, "/c", "/home/ann").has_value();
}

std::string webhook(const std::string& more) {
    return "webhooks:\n  - name: ops\n    url: https://example.org/a\n" + more;
}

TEST(ConfigSchema, AcceptsWhatIsRight) {
    for (const auto& text :
         {std::string(""), std::string("events:\nwebhooks:\n"), std::string("webhooks: []\n"),
          std::string("events: {keep_days: 7, keep_count: 1}\n"),
          std::string("events: {keep_days: 7d, keep_count:}\n"), webhook("    secret_env: S\n"),
          webhook("    secret_file: ~/a\n    timeout: 60\n    concurrency: 16\n"),
          webhook("    secrets: [{file: a}, {env: B}]\n    timeout: 1m\n    events: notice\n"),
          webhook("    secret_env: S\n    secrets: []\n    allow_internal: true\n"),
          webhook("    secret_env: S\n    events: [session:*, notice]\n    timeout:\n")}) {
        EXPECT_TRUE(schema_accepts(text)) << text;
        EXPECT_TRUE(reader_accepts(text)) << text;
    }
}

TEST(ConfigSchema, RefusesWhatIsWrong) {
    for (const auto& text :
         {std::string("[]\n"),
          std::string("event: {}\n"),
          std::string("events: 5\n"),
          std::string("events: {keep_day: 7}\n"),
          std::string("events: {keep_days: 0}\n"),
          std::string("events: {keep_days: 36501}\n"),
          std::string("events: {keep_days: soon}\n"),
          std::string("events: {keep_count: 1.5}\n"),
          std::string("events: {keep_count: '5'}\n"),
          std::string("webhooks: {}\n"),
          std::string("webhooks: [words]\n"),
          webhook(""),
          webhook("    secrets: []\n"),
          webhook("    secrets: [{}]\n"),
          webhook("    secrets: [{file: a, env: B}]\n"),
          webhook("    secret_env: 'a b'\n"),
          webhook("    secret_env: whsec_abc\n"),
          webhook("    secret_file: whsec_abc\n"),
          webhook("    secret_file:\n"),
          webhook("    secret_env: S\n    secret: abc\n"),
          webhook("    secret_env: S\n    timeout: 61\n"),
          webhook("    secret_env: S\n    timeout: 1.5m\n"),
          webhook("    secret_env: S\n    concurrency: 17\n"),
          webhook("    secret_env: S\n    allow_internal: 'yes'\n"),
          webhook("    secret_env: S\n    events: []\n"),
          webhook("    secret_env: S\n    events: {a: b}\n"),
          std::string("webhooks:\n  - name: a b\n    url: https://a/\n    secret_env: S\n"),
          std::string("webhooks:\n  - name: a\n    url: ftp://a/\n    secret_env: S\n"),
          std::string("webhooks:\n  - url: https://a/\n    secret_env: S\n")}) {
        EXPECT_FALSE(schema_accepts(text)) << text;
        EXPECT_FALSE(reader_accepts(text)) << text;
    }
}

}  // namespace
}  // namespace knell
