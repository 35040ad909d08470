#include "config/yaml_fields.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/duration_text.hpp"
#include "base/text.hpp"
#include "config/nearest_word.hpp"
#include "reset/time_of_day.hpp"

namespace knell {

namespace {

/// 010 is ten to some programs that read YAML, and eight to others.
bool has_leading_zero(std::string_view number) {
    if (number.starts_with('-')) number.remove_prefix(1);
    return number.size() > 1 && number[0] == '0' && number[1] >= '0' && number[1] <= '9';
}

std::optional<std::int64_t> parse_integer(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::text || node.is_quoted) return std::nullopt;
    if (has_leading_zero(node.text)) return std::nullopt;
    const auto* end = node.text.data() + node.text.size();
    std::int64_t value = 0;
    const auto [rest, error] = std::from_chars(node.text.data(), end, value);
    if (error != std::errc{} || rest != end) return std::nullopt;
    return value;
}

std::optional<std::chrono::seconds> duration_of(const YamlNode& node, std::chrono::seconds unit) {
    if (node.kind != YamlNode::Kind::text) return std::nullopt;
    // A number in quotes is a text, here as everywhere; with a unit it is one anyway.
    if (node.is_quoted && parse_integer({.kind = node.kind, .text = node.text}))
        return std::nullopt;
    if (has_leading_zero(node.text)) return std::nullopt;
    // What counts in days is written in days: 36h would be one and a half.
    const bool in_days = unit == std::chrono::days{1};
    if (in_days && std::string_view("smh").contains(node.text.empty() ? ' ' : node.text.back())) {
        return std::nullopt;
    }
    return parse_duration(node.text, unit);
}

bool is_in(const std::vector<std::string>& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

/// A key is part of messages: on one line and not too long, which also is no secret.
std::string shown(std::string_view key) {
    constexpr std::size_t shown_max = 40;
    if (!is_utf8(key) || has_control_character(key)) return "(this key)";
    return key.size() <= shown_max ? std::string(key) : "(this long key)";
}

}  // namespace

YamlFields::YamlFields(const YamlNode& node, FileProblems& problems, std::string at)
    : map_(node), problems_(problems), at_(std::move(at)) {
    if (node.kind != YamlNode::Kind::map) {
        problems_.add(node.place, at_.substr(0, at_.empty() ? 0 : at_.size() - 1),
                      "must be keys with values; write them as `key: value`");
        return;
    }
    std::map<std::string_view, int> lines;
    for (const auto& item : node.items) {
        const auto [first, is_new] = lines.emplace(item.key, item.place.line);
        if (is_new) continue;
        problems_.add(
            item.place, path_of(item.key),
            fmt::format("is written twice, first in line {}; remove one of both", first->second));
    }
}

std::string YamlFields::path_of(std::string_view name) const {
    return at_ + shown(name);
}

const YamlNode* YamlFields::find(std::string_view name) const {
    if (map_.kind != YamlNode::Kind::map) return nullptr;
    const auto found = std::ranges::find(map_.items, name, &YamlNode::key);
    return found == map_.items.end() ? nullptr : &*found;
}

const YamlNode* YamlFields::node(std::string_view name) {
    if (!is_in(asked_for_, name)) asked_for_.emplace_back(name);
    const auto* found = find(name);
    return found == nullptr || found->kind == YamlNode::Kind::nothing ? nullptr : found;
}

TextPlace YamlFields::place(std::string_view name) const {
    const auto* found = find(name);
    return found == nullptr ? map_.place : found->place;
}

void YamlFields::reject(std::string_view name, std::string_view text) {
    problems_.add(place(name), path_of(name), text);
}

std::optional<std::string> YamlFields::text_of(const YamlNode& node, std::string_view name) {
    if (node.kind != YamlNode::Kind::text) {
        problems_.add(node.place, path_of(name), "must be text; put it in quotes");
        return std::nullopt;
    }
    if (!is_utf8(node.text) || has_control_character(node.text)) {
        problems_.add(node.place, path_of(name),
                      "must be one line without control characters; write it on one");
        return std::nullopt;
    }
    return node.text;
}

std::optional<std::string> YamlFields::text(std::string_view name) {
    const auto* found = node(name);
    if (found == nullptr) return std::nullopt;
    if (!is_yaml_text(*found)) {
        reject(name, "must be text; put it in quotes");
        return std::nullopt;
    }
    return text_of(*found, name);
}

std::optional<std::string> YamlFields::prose(std::string_view name) {
    const auto* found = node(name);
    if (found == nullptr) return std::nullopt;
    if (found->kind == YamlNode::Kind::text && is_utf8(found->text)) return found->text;
    reject(name, "must be text; put it in quotes");
    return std::nullopt;
}

std::optional<std::int64_t> YamlFields::integer(std::string_view name, std::int64_t min,
                                                std::int64_t max) {
    const auto* found = node(name);
    if (found == nullptr) return std::nullopt;
    const auto value = parse_integer(*found);
    if (value && *value >= min && *value <= max) return value;
    if (value) {
        reject(name, fmt::format("is {}; write a whole number from {} to {}",
                                 *value < min ? fmt::format("less than {}", min)
                                              : fmt::format("more than {}", max),
                                 min, max));
        return std::nullopt;
    }
    reject(name,
           fmt::format("must be a whole number from {} to {}; write it without a unit, quotes "
                       "and zeros before it",
                       min, max));
    return std::nullopt;
}

std::optional<std::chrono::seconds> YamlFields::duration(std::string_view name,
                                                         std::chrono::seconds min,
                                                         std::chrono::seconds max,
                                                         std::chrono::seconds unit) {
    const auto* found = node(name);
    if (found == nullptr) return std::nullopt;
    const auto value = duration_of(*found, unit);
    if (value && *value >= min && *value <= max) return value;
    const bool in_days = unit == std::chrono::days{1};
    reject(name, in_days ? fmt::format("must be whole days from {} to {}; write them as in 30 or "
                                       "30d",
                                       min / unit, max / unit)
                         : fmt::format("must be from {} to {}; write a whole number of seconds, or "
                                       "one with a unit, as in 90s, 2m, 12h or 1d",
                                       format_duration(min), format_duration(max)));
    return std::nullopt;
}

std::optional<std::string> YamlFields::time_of_day(std::string_view name) {
    const auto* found = node(name);
    if (found == nullptr) return std::nullopt;
    std::optional<std::chrono::minutes> time;
    // 06:00 without quotes is a text to us and 360 to some programs; what was written is the same.
    const bool is_number = !found->is_quoted && !found->text.contains(':');
    if (found->kind == YamlNode::Kind::text && (!is_number || parse_integer(*found))) {
        time = parse_time_of_day(found->text);
    }
    if (time) return format_time_of_day(*time);
    reject(name,
           "must be a time of day; write an hour from 0 to 23, as 6 and not 06, or hours and "
           "minutes, as in 04:30");
    return std::nullopt;
}

std::optional<bool> YamlFields::boolean(std::string_view name) {
    const auto* found = node(name);
    if (found == nullptr) return std::nullopt;
    if (found->kind == YamlNode::Kind::text && !found->is_quoted) {
        const auto truth = yaml_boolean(found->text);
        if (truth) return truth;
    }
    reject(name, "must be true or false; write one of them, without quotes");
    return std::nullopt;
}

std::optional<std::vector<std::string>> YamlFields::texts(std::string_view name,
                                                          std::size_t count_max) {
    const auto* found = node(name);
    if (found == nullptr) return std::nullopt;
    if (found->kind == YamlNode::Kind::map) {
        reject(name, "must be a list; write one text a line, each after a dash");
        return std::nullopt;
    }
    if (found->items.size() > count_max) {
        reject(name, fmt::format("holds {} items, and at most {} are allowed; remove some",
                                 found->items.size(), count_max));
        return std::nullopt;
    }
    std::vector<std::string> texts;
    bool whole = true;
    const auto take = [&](const YamlNode& item) {
        auto text = text_of(item, name);
        whole = whole && text;
        if (text) texts.push_back(std::move(*text));
    };
    if (found->kind == YamlNode::Kind::text) {
        take(*found);
    } else {
        for (const auto& item : found->items) take(item);
    }
    return whole ? std::optional(std::move(texts)) : std::nullopt;
}

const std::vector<YamlNode>* YamlFields::list(std::string_view name) {
    const auto* found = node(name);
    if (found == nullptr) return nullptr;
    if (found->kind == YamlNode::Kind::list) return &found->items;
    reject(name, "must be a list; begin each item with a dash");
    return nullptr;
}

void YamlFields::refuse_key(std::string_view name, std::string_view text) {
    if (find(name) == nullptr) return;
    refused_.emplace_back(name);
    reject(name, text);
}

void YamlFields::warn_of_near_misses() {
    if (map_.kind != YamlNode::Kind::map) return;
    for (const auto& item : map_.items) {
        if (is_in(asked_for_, item.key) || is_in(refused_, item.key)) continue;
        const auto meant = nearest_word(item.key, asked_for_);
        // Who wrote the one that we know means something else by this.
        if (meant.empty() || find(meant) != nullptr) continue;
        problems_.warn(item.place, path_of(item.key),
                       fmt::format("there is no such key; did you mean \"{}\"?", meant));
    }
}

void YamlFields::refuse_other_keys(const Elsewhere& elsewhere) {
    if (map_.kind != YamlNode::Kind::map) return;
    for (const auto& item : map_.items) {
        if (is_in(asked_for_, item.key) || is_in(refused_, item.key)) continue;
        auto meant = nearest_word(item.key, asked_for_);
        if (meant.empty() && elsewhere) meant = elsewhere(item.key);
        problems_.add(
            item.place, path_of(item.key),
            meant.empty()
                ? fmt::format("there is no such key; write one of: {}", fmt::join(asked_for_, ", "))
                : fmt::format("there is no such key; did you mean \"{}\"?", meant));
    }
}

}  // namespace knell
