#include "foreign/hermes/config_scalar.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace knell::hermes {

namespace {

constexpr std::array<std::string_view, 9> words_of_yes{"true", "True", "TRUE", "yes", "Yes",
                                                       "YES",  "on",   "On",   "ON"};
constexpr std::array<std::string_view, 9> words_of_no{"false", "False", "FALSE", "no", "No",
                                                      "NO",    "off",   "Off",   "OFF"};

bool is_in(const std::array<std::string_view, 9>& words, std::string_view text) {
    return std::ranges::find(words, text) != words.end();
}

bool is_made_of(std::string_view text, std::string_view characters) {
    return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

std::optional<double> whole(std::string_view digits, int base) {
    std::int64_t value = 0;
    const auto* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
    if (stop != end || digits.empty()) return std::nullopt;
    if (error == std::errc::result_out_of_range) return 1e19;  // a number, past all bounds
    if (error != std::errc{}) return std::nullopt;
    return static_cast<double>(value);
}

/// 1:30 is ninety.
std::optional<double> of_sixties(std::string_view text) {
    double value = 0.0;
    for (;;) {
        const auto colon = text.find(':');
        const auto part = whole(text.substr(0, colon), 10);
        if (!part || *part < 0) return std::nullopt;
        value = value * 60 + *part;
        if (colon == std::string_view::npos) return value;
        text.remove_prefix(colon + 1);
    }
}

std::optional<double> integer(std::string_view text) {
    if (text.starts_with('_') || !is_made_of(text, "0123456789abcdefABCDEFxo_:")) {
        return std::nullopt;
    }
    std::string digits(text);
    std::erase(digits, '_');
    const std::string_view plain = digits;
    if (plain.starts_with("0x")) return whole(plain.substr(2), 16);
    if (plain.starts_with("0b")) return whole(plain.substr(2), 2);
    if (plain.contains(':')) return plain.starts_with('0') ? std::nullopt : of_sixties(plain);
    const bool is_octal = plain.size() > 1 && plain.starts_with('0');
    return whole(plain, is_octal ? 8 : 10);
}

std::optional<double> real(std::string_view text) {
    if (text == ".inf" || text == ".Inf" || text == ".INF") return 1e308;
    if (!text.contains('.') || !is_made_of(text, "0123456789._eE+-")) return std::nullopt;
    std::string digits(text);
    std::erase(digits, '_');
    double value = 0.0;
    const auto* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return value;
}

Scalar plain_scalar(std::string_view text) {
    if (is_in(words_of_yes, text)) return {.kind = ScalarKind::boolean, .truth = true};
    if (is_in(words_of_no, text)) return {.kind = ScalarKind::boolean};
    const bool is_negative = text.starts_with('-');
    const auto unsigned_text = is_negative || text.starts_with('+') ? text.substr(1) : text;
    const auto sign = is_negative ? -1.0 : 1.0;
    if (const auto number = integer(unsigned_text)) {
        return {.kind = ScalarKind::integer, .number = sign * *number};
    }
    if (const auto number = real(unsigned_text)) {
        return {.kind = ScalarKind::real, .number = sign * *number};
    }
    return {.kind = ScalarKind::text};
}

}  // namespace

Scalar hermes_scalar(const YamlNode& node) {
    switch (node.kind) {
        case YamlNode::Kind::nothing:
            return {};
        case YamlNode::Kind::list:
            return {.kind = ScalarKind::list};
        case YamlNode::Kind::map:
            return {.kind = ScalarKind::map};
        case YamlNode::Kind::text:
            return node.is_quoted ? Scalar{.kind = ScalarKind::text} : plain_scalar(node.text);
    }
    return {};
}

bool says_yes(std::string_view text) {
    return text == "1" || is_in(words_of_yes, text);
}

}  // namespace knell::hermes
