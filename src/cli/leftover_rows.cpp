#include "cli/leftover_rows.hpp"

#include <fmt/format.h>

#include "cli/text_width.hpp"

namespace knell::cli {

using wire::int_at;
using wire::text_at;

std::string leftover_text(const JsonObject& leftover) {
    const auto command = one_line(text_at(leftover, "command"));
    return fmt::format("{}{}{} ({})", int_at(leftover, "pid"), command.empty() ? "" : " ", command,
                       one_line(text_at(leftover, "found_by")));
}

std::vector<std::string> leftover_lines(const JsonArray& leftovers, std::string_view what,
                                        std::string_view session_id) {
    std::vector<std::string> lines;
    for (const auto& leftover : leftovers) {
        const auto* object = leftover.if_object();
        if (object == nullptr) continue;
        if (lines.size() == leftover_lines_max) {
            lines.push_back(fmt::format("{}: {} more; see: knell why {}", what,
                                        leftovers.size() - leftover_lines_max, session_id));
            break;
        }
        lines.push_back(fmt::format("{}: {}", what, leftover_text(*object)));
    }
    return lines;
}

Table leftover_table(const JsonArray& leftovers) {
    Table table({{.title = "PID", .align = Align::right},
                 {.title = "COMMAND", .shrink_to = 20},
                 {.title = "KNOWN BY", .shrink_to = 20}});
    for (const auto& leftover : leftovers) {
        const auto* object = leftover.if_object();
        if (object == nullptr) continue;
        table.add({{fmt::format("{}", int_at(*object, "pid"))},
                   {std::string(text_at(*object, "command"))},
                   {std::string(text_at(*object, "found_by")), Tone::faint}});
    }
    return table;
}

}  // namespace knell::cli
