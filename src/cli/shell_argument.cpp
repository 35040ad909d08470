#include "cli/shell_argument.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/text_width.hpp"

namespace knell::cli {

namespace {

/// Means itself to every shell, wherever it stands in a word.
bool is_plain(char c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return is_letter || (c >= '0' && c <= '9') || std::string_view("-_.:/@%+,").contains(c);
}

std::string quoted(std::string_view text) {
    std::string word = "'";
    for (const char c : text) {
        if (c == '\'') {
            word += R"('\'')";
        } else {
            word += c;
        }
    }
    return word + "'";
}

}  // namespace

std::string shell_argument(std::string_view text) {
    const auto line = one_line(text);
    const bool is_word = !line.empty() && std::ranges::all_of(line, is_plain);
    return fmt::format("{}{}", line.starts_with('-') ? "-- " : "", is_word ? line : quoted(line));
}

}  // namespace knell::cli
