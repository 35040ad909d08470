#include "foreign/hermes/env_file.hpp"

#include <algorithm>
#include <ranges>

namespace knell::hermes {

namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    const auto begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string_view without_quotes(std::string_view value) {
    for (const char quote : {'"', '\''}) {
        if (!value.starts_with(quote)) continue;
        const auto end = value.find(quote, 1);
        if (end != std::string_view::npos) return value.substr(1, end - 1);
    }
    // A # that begins a word is a remark.
    return trimmed(value.substr(0, std::min(value.find(" #"), value.find("\t#"))));
}

}  // namespace

std::vector<EnvLine> parse_env_file(std::string_view text) {
    std::vector<EnvLine> lines;
    for (int number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        auto line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.starts_with("export ")) line = trimmed(line.substr(7));
        const auto equals = line.find('=');
        if (line.starts_with('#') || equals == std::string_view::npos) continue;
        lines.push_back({.line = number,
                         .name = std::string(trimmed(line.substr(0, equals))),
                         .value = std::string(without_quotes(trimmed(line.substr(equals + 1))))});
    }
    return lines;
}

const EnvLine* find_env(const std::vector<EnvLine>& lines, std::string_view name) {
    const auto backwards = std::views::reverse(lines);
    const auto found = std::ranges::find(backwards, name, &EnvLine::name);
    return found == backwards.end() || found->value.empty() ? nullptr : &*found;
}

}  // namespace knell::hermes
