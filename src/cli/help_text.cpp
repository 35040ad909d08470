#include "cli/help_text.hpp"

#include <algorithm>

#include "cli/text_width.hpp"

namespace knell::cli {

namespace {

constexpr std::size_t hanging = 4;

std::string_view take_line(std::string_view& text) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    return line;
}

/// Of the first line.
bool is_prose(std::string_view text) {
    return !text.empty() && text.front() != ' ' && text.front() != '\n';
}

std::string fit_indented(std::string_view line, std::size_t width) {
    if (display_width(line) <= width) return std::string(line);
    const auto begin = std::min(line.find_first_not_of(' '), line.size());
    const auto gap = line.find("  ", begin);
    if (gap == std::string_view::npos) {
        return std::string(begin, ' ') + wrap(line.substr(begin), {width, begin, begin});
    }
    const auto column = std::min(line.find_first_not_of(' ', gap), line.size());
    const auto second = line.substr(column);
    if (column <= width / 2) {
        return std::string(line.substr(0, column)) + wrap(second, {width, column, column});
    }
    const auto below = begin + hanging;
    return std::string(line.substr(0, gap)) + "\n" + std::string(below, ' ') +
           wrap(second, {width, below, below});
}

/// The lines of prose that `text` begins with, taken off it.
std::string take_paragraph(std::string_view& text, std::size_t width) {
    std::string as_it_is;
    std::string joined;
    bool fits = true;
    while (is_prose(text)) {
        const auto line = take_line(text);
        fits = fits && display_width(line) <= width;
        as_it_is += (as_it_is.empty() ? "" : "\n") + std::string(line);
        joined += (joined.empty() ? "" : " ") + std::string(line);
    }
    return fits ? as_it_is : wrap(joined, {.width = width});
}

}  // namespace

std::string fit_help(std::string_view text, std::size_t width) {
    if (width == 0) return std::string(text);
    std::string fitted;
    while (!text.empty()) {
        fitted +=
            is_prose(text) ? take_paragraph(text, width) : fit_indented(take_line(text), width);
        fitted += '\n';
    }
    return fitted;
}

}  // namespace knell::cli
