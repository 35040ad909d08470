#include "config/setting.hpp"

#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.hpp"
#include "base/duration_text.hpp"
#include "base/text.hpp"

namespace knell {

namespace {

/// "https://example.org/..." of an address whose path may be what opens the door.
std::string host_alone(std::string_view url) {
    const auto host = url.find("://");
    if (host == std::string_view::npos) return "...";
    const auto end = url.find_first_of("/?", host + 3);
    if (end == std::string_view::npos) return std::string(url);
    if (end + 1 == url.size() && url.ends_with('/')) return std::string(url);
    return fmt::format("{}/...", url.substr(0, end));
}

bool is_in_its_unit(const Key& key) {
    return key.type == KeyType::duration && key.unit != "seconds";
}

/// As one would write it: one word, or [several, of, them].
std::vector<std::string> words_in(std::string_view text) {
    if (!text.starts_with('[')) return {std::string(text)};
    text = text.substr(1, text.size() - 2);
    std::vector<std::string> words;
    while (!text.empty()) words.emplace_back(trimmed(take_field(text, ',')));
    return words;
}

}  // namespace

std::optional<Value> default_value(const Key& key) {
    if (key.type == KeyType::items && key.presence == Presence::optional) {
        return std::vector<std::string>{};
    }
    if (key.fallback.empty()) return std::nullopt;
    auto text = key.fallback;
    if (text.starts_with('"')) text = text.substr(1, text.size() - 2);
    switch (key.type) {
        case KeyType::integer: {
            std::int64_t number = 0;
            const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
            CHECK(read.ec == std::errc{});
            return number;
        }
        case KeyType::duration: {
            const auto duration = parse_duration(text, key.bare_unit());
            CHECK(duration.has_value());
            return *duration;
        }
        case KeyType::boolean:
            return text == "true";
        case KeyType::time_of_day:
        case KeyType::text:
        case KeyType::prose:
        case KeyType::path:
            return std::string(text);
        case KeyType::texts:
        case KeyType::command:
        case KeyType::items:
            return words_in(text);
    }
    return std::nullopt;
}

std::string shown_value(const Key& key, const Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
    if (const auto* duration = std::get_if<std::chrono::seconds>(&value)) {
        if (is_in_its_unit(key)) return fmt::format("{}", *duration / key.bare_unit());
        return format_duration(*duration);
    }
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const auto* text = std::get_if<std::string>(&value)) {
        return key.may_hold_token ? host_alone(*text) : *text;
    }
    const auto& texts = std::get<std::vector<std::string>>(value);
    return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

Json json_value(const Key& key, const Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
    if (const auto* flag = std::get_if<bool>(&value)) return *flag;
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
        return JsonArray(texts->begin(), texts->end());
    }
    const auto* duration = std::get_if<std::chrono::seconds>(&value);
    if (duration != nullptr && is_in_its_unit(key)) return *duration / key.bare_unit();
    return Json(shown_value(key, value));
}

}  // namespace knell
