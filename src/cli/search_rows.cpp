#include "cli/search_rows.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "cli/relative_time.hpp"
#include "cli/table.hpp"
#include "cli/text_width.hpp"
#include "core/words.hpp"

namespace knell::cli {

namespace {

using wire::int_at;
using wire::text_at;

constexpr std::size_t indent = 4;

/// Which characters of a snippet are marked.
std::vector<bool> marked_characters(const JsonObject& result) {
    std::vector<bool> marked;
    const auto* marks = wire::array_at(result, "marks");
    if (marks == nullptr) return marked;
    for (const auto& mark : *marks) {
        const auto* object = mark.if_object();
        if (object == nullptr) continue;
        const auto start = std::max<std::int64_t>(int_at(*object, "start"), 0);
        const auto length = std::max<std::int64_t>(int_at(*object, "length"), 0);
        // Whatever a daemon says, no more than a snippet can have.
        const auto end = static_cast<std::size_t>(std::min<std::int64_t>(start + length, 10'000));
        marked.resize(std::max(marked.size(), end));
        for (auto at = static_cast<std::size_t>(start); at < end; ++at) marked[at] = true;
    }
    return marked;
}

/// The snippet in lines, its marks in bold: breaking it takes a blank for a line end and the
/// indent.
std::string marked_lines(const std::string& wrapped, const std::vector<bool>& marked,
                         const Terminal& terminal) {
    std::string lines;
    std::string bold;
    std::size_t character = 0;
    const auto end_bold = [&] {
        lines += toned(bold, Tone::heading, terminal);
        bold.clear();
    };
    for (std::size_t at = 0; at < wrapped.size(); ++character) {
        const auto bytes =
            std::max<std::size_t>(first_code_point(std::string_view(wrapped).substr(at)).bytes, 1);
        const auto letter = wrapped.substr(at, bytes);
        at += bytes;
        if (letter == "\n") {
            end_bold();
            lines += "\n" + std::string(indent, ' ');
            at += std::min(indent, wrapped.size() - at);
        } else if (character < marked.size() && marked[character]) {
            bold += letter;
        } else {
            end_bold();
            lines += letter;
        }
    }
    end_bold();
    return lines;
}

std::string heading_of(const JsonObject& result, WallTime now) {
    auto heading = fmt::format("{} #{}  {}", text_at(result, "session_id"),
                               int_at(result, "number"), text_at(result, "role"));
    if (const auto tool = text_at(result, "tool_name"); !tool.empty()) {
        heading += fmt::format(" ({})", tool);
    }
    heading += fmt::format("  {}", relative_time(text_at(result, "time"), now));
    const auto title = text_at(result, "title");
    const auto what = title.empty() ? text_at(result, "key") : title;
    if (!what.empty()) heading += fmt::format("  {}", what);
    return one_line(heading);
}

}  // namespace

std::string search_rows(const JsonArray& results, const Terminal& terminal, WallTime now) {
    std::string rows;
    for (const auto& one : results) {
        const auto* result = one.if_object();
        if (result == nullptr) continue;
        const auto heading = heading_of(*result, now);
        rows += toned(terminal.width > 0 ? fit(heading, terminal.width) : heading, Tone::faint,
                      terminal);
        const Wrapping wrapping{.width = terminal.width, .indent = indent, .before = indent};
        const auto wrapped = wrap(one_line(text_at(*result, "snippet")), wrapping);
        rows += fmt::format("\n{}{}\n", std::string(indent, ' '),
                            marked_lines(wrapped, marked_characters(*result), terminal));
    }
    return rows;
}

}  // namespace knell::cli
