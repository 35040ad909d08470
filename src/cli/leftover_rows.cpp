#include "cli/leftover_rows.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/shell_argument.hpp"
#include "cli/text_width.hpp"

namespace knell::cli {

using wire::int_at;
using wire::text_at;

namespace {

bool is_gone(const JsonObject& leftover) {
    return text_at(leftover, "fate") == "gone";
}

std::string_view what_becomes_of(const JsonObject& leftover) {
    const auto fate = text_at(leftover, "fate");
    if (fate.empty() || fate == "left") return "left running";
    if (fate == "shared") return "left running, others use it";
    return fate;
}

}  // namespace

std::string leftover_text(const JsonObject& leftover) {
    const auto command = one_line(text_at(leftover, "command"));
    return fmt::format("{}{}{} ({})", int_at(leftover, "pid"), command.empty() ? "" : " ", command,
                       one_line(text_at(leftover, "found_by")));
}

std::vector<std::string> leftover_lines(const JsonArray& leftovers, std::string_view session_id) {
    std::vector<std::string> lines;
    const auto running = count_running(leftovers);
    for (const auto& leftover : leftovers) {
        const auto* object = leftover.if_object();
        if (object == nullptr || is_gone(*object)) continue;
        if (lines.size() == leftover_lines_max) {
            lines.push_back(fmt::format("{} more were left; see: knell why {}",
                                        running - leftover_lines_max, shell_argument(session_id)));
            break;
        }
        lines.push_back(fmt::format("{}: {}", what_becomes_of(*object), leftover_text(*object)));
    }
    return lines;
}

std::size_t count_running(const JsonArray& leftovers) {
    return static_cast<std::size_t>(std::ranges::count_if(leftovers, [](const Json& leftover) {
        const auto* object = leftover.if_object();
        return object != nullptr && !is_gone(*object);
    }));
}

std::size_t count_stopping(const JsonArray& leftovers) {
    return static_cast<std::size_t>(std::ranges::count_if(leftovers, [](const Json& leftover) {
        const auto* object = leftover.if_object();
        return object != nullptr && wire::text_at(*object, "fate") == "stopping";
    }));
}

std::string leftovers_text(const JsonArray& leftovers, const Terminal& terminal) {
    const auto table = leftover_table(leftovers);
    if (table.fits(terminal)) return table.render(terminal);
    std::string text;
    for (const auto& leftover : leftovers) {
        const auto* object = leftover.if_object();
        if (object == nullptr) continue;
        const auto line = fmt::format("{} {}: {}", int_at(*object, "pid"), what_becomes_of(*object),
                                      one_line(text_at(*object, "command")));
        const auto known_by = fmt::format("  {}", one_line(text_at(*object, "found_by")));
        text += fmt::format(
            "{}\n{}\n", wrap(line, {.width = terminal.width, .indent = 2}),
            toned(wrap(known_by, {.width = terminal.width, .indent = 2}), Tone::faint, terminal));
    }
    return text;
}

Table leftover_table(const JsonArray& leftovers) {
    Table table({{.title = "PID", .align = Align::right},
                 {.title = "COMMAND", .shrink_to = 20},
                 {.title = "FATE"},
                 {.title = "KNOWN BY", .shrink_to = 12}});
    for (const auto& leftover : leftovers) {
        const auto* object = leftover.if_object();
        if (object == nullptr) continue;
        table.add({{fmt::format("{}", int_at(*object, "pid"))},
                   {std::string(text_at(*object, "command"))},
                   {one_line(text_at(*object, "fate"))},
                   {std::string(text_at(*object, "found_by")), Tone::faint}});
    }
    return table;
}

}  // namespace knell::cli
