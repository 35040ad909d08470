#include "cli/event_rows.hpp"

#include <fmt/format.h>

#include "cli/leftover_rows.hpp"
#include "cli/output.hpp"
#include "cli/relative_time.hpp"
#include "cli/session_facts.hpp"
#include "cli/session_rows.hpp"
#include "cli/table.hpp"
#include "cli/text_width.hpp"
#include "client/process_words.hpp"
#include "platform/local_time.hpp"

namespace knell::cli {

namespace {

using wire::int_at;
using wire::text_at;

/// What a person wrote on a session, as it is now.
std::string labels_of(const JsonObject& event) {
    const auto title = text_at(event, "title");
    const auto named = title.empty() ? std::string("no title") : fmt::format("\"{}\"", title);
    return wire::bool_at(event, "pinned") ? "pinned, " + named : named;
}

/// Which one, and how it ended or what is known of it.
std::string process_text(const JsonObject& process) {
    const auto command = text_at(process, "command");
    if (!client::is_running(process)) {
        return fmt::format("{} {}: {}", text_at(process, "process_id"), client::exit_words(process),
                           command);
    }
    return fmt::format("{} {}", text_at(process, "process_id"), command);
}

/// How a compression went; "" for any other event.
std::string compression_text(const JsonObject& event) {
    const auto outcome = text_at(event, "outcome");
    if (outcome.empty()) return {};
    const auto child = text_at(event, "child_id");
    const auto why = text_at(event, "detail");
    if (outcome == "compressed") {
        return fmt::format("goes on as {} from a summary by {}", child, text_at(event, "provider"));
    }
    if (outcome == "tail") {
        return fmt::format("goes on as {} with its last messages: {}", child, why);
    }
    return fmt::format("not compressed: {}", why);
}

/// Of a session: what it is, so that who reads need not look it up.
std::string about(const JsonObject& event) {
    const auto title = text_at(event, "title");
    const auto name = fit(one_line(title.empty() ? text_at(event, "command") : title), 30);
    return name.empty() ? name : name + ": ";
}

/// In what way an agent is stuck; "" for any other event.
std::string stuck_text(const JsonObject& event) {
    const auto level = text_at(event, "level");
    return level.empty() ? std::string{} : fmt::format("{}: {}", level, text_at(event, "detail"));
}

std::string what_happened(const JsonObject& event) {
    if (const auto* process = wire::object_at(event, "process")) return process_text(*process);
    if (auto text = compression_text(event); !text.empty()) return text;
    if (auto text = stuck_text(event); !text.empty()) return text;
    if (event.contains("pinned")) return labels_of(event);
    auto text = end_text(event);
    if (text.empty()) {
        const auto source = text_at(event, "source");
        const auto detail = text_at(event, "detail");
        const bool has_both = !source.empty() && !detail.empty();
        text = fmt::format("{}{}{}", source, has_both ? ": " : "", detail);
    }
    if (!text.empty()) text.insert(0, about(event));
    if (const auto* leftovers = wire::array_at(event, "leftovers")) {
        const auto stopping = count_stopping(*leftovers);
        if (const auto left = count_running(*leftovers) - stopping; left > 0) {
            text += fmt::format("; {} left running", left);
        }
        if (stopping > 0) text += fmt::format("; {} being stopped", stopping);
    }
    return text;
}

void add_row(Table& table, const Json& event, std::string time, const ShortIds& names) {
    const auto* object = event.if_object();
    if (object == nullptr) return;
    const auto generation = int_at(*object, "generation");
    const auto id = text_at(*object, "session_id");
    const auto name = names.find(id);
    table.add({{fmt::to_string(int_at(*object, "seq"))},
               {std::move(time), Tone::faint},
               {std::string(text_at(*object, "type"))},
               {name == names.end() ? std::string(id) : name->second},
               {generation == 0 ? "" : fmt::to_string(generation)},
               {what_happened(*object), tone_of_end(*object)}});
}

std::string time_of(const Json& event) {
    const auto* object = event.if_object();
    return std::string(object == nullptr ? "" : text_at(*object, "time"));
}

/// The time of day is enough for who looks on.
std::string time_of_day(const Json& event) {
    const auto time = parse_rfc3339(time_of(event));
    return time ? clock_text(*time, ShownZone::local).substr(11, 8) : std::string{};
}

/// As wide as what these columns usually hold: the rows to come are not known.  On a screen none
/// is wider than it.
Table endless_table(const Terminal& terminal) {
    if (!terminal.interactive) {
        return Table({{.title = "SEQ", .align = Align::right, .least = 8},
                      {.title = "TIME", .least = 24},
                      {.title = "TYPE", .least = 15},
                      {.title = "SESSION", .least = 36},
                      {.title = "GEN", .align = Align::right},
                      {.title = "WHAT", .least = 24}});
    }
    return Table({{.title = "SEQ", .align = Align::right, .drop_order = 2, .least = 6},
                  {.title = "TIME", .drop_order = 3, .least = 8},
                  {.title = "TYPE", .shrink_to = 13, .least = 13},
                  {.title = "SESSION", .least = 8},
                  {.title = "GEN", .align = Align::right, .drop_order = 1},
                  {.title = "WHAT", .shrink_to = 8, .least = 8}});
}

}  // namespace

std::vector<std::string> sessions_in(const std::deque<Json>& events) {
    std::vector<std::string> ids;
    for (const auto& event : events) {
        const auto* object = event.if_object();
        if (object == nullptr || text_at(*object, "session_id").empty()) continue;
        ids.emplace_back(text_at(*object, "session_id"));
    }
    return ids;
}

std::string event_table(const std::deque<Json>& events, const Terminal& terminal, WallTime now,
                        const ShortIds& names) {
    Table table({{.title = "SEQ", .align = Align::right, .drop_order = 2},
                 {.title = "TIME", .drop_order = 3},
                 {.title = "TYPE", .shrink_to = 13},
                 {.title = "SESSION"},
                 {.title = "GEN", .align = Align::right, .drop_order = 1},
                 {.title = "WHAT", .shrink_to = 15}});
    for (const auto& event : events) {
        // A person wants to know how long ago, a file when.
        const auto time = time_of(event);
        add_row(table, event, terminal.interactive ? relative_time(time, now) : time, names);
    }
    return table.render(terminal);
}

void EventPrinter::print_heading() const {
    if (!json_) print(endless_table(terminal_).render(terminal_));
}

void EventPrinter::print_events(const std::deque<Json>& events, const ShortIds& names) const {
    if (json_) {
        for (const auto& event : events) print_line(wire::to_text(event));
        return;
    }
    auto table = endless_table(terminal_);
    // "3s ago" would be wrong a minute later.
    for (const auto& event : events) {
        add_row(table, event, terminal_.interactive ? time_of_day(event) : time_of(event), names);
    }
    print(table.render_rows(terminal_));
}

void EventPrinter::print_gap(std::int64_t from, std::int64_t to) const {
    if (json_) {
        print_line(wire::to_text(JsonObject{{"gap", JsonObject{{"from", from}, {"to", to}}}}));
    } else {
        print_line(toned(fmt::format("events {} to {} are no longer kept", from, to), Tone::warning,
                         terminal_));
    }
}

}  // namespace knell::cli
