#include "cli/process_rows.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "cli/relative_time.hpp"
#include "cli/text_width.hpp"
#include "client/process_words.hpp"

namespace knell::cli {

namespace {

using wire::int_at;
using wire::text_at;

std::string session_text(const JsonObject& process) {
    std::string id(text_at(process, "session_id"));
    const auto state = text_at(process, "session");
    if (state == "ended") return id + " (ended)";
    if (state == "none") return id + " (no record)";
    return id;
}

/// How it is known what it does; what somebody said about it first.
std::string evidence_text(const JsonObject& process, WallTime now) {
    std::string text;
    const auto add = [&](std::string words) { text += (text.empty() ? "" : ", ") + words; };
    const bool is_stopping = client::is_being_stopped(process);
    if (!client::is_running(process)) {
        if (is_stopping) add("stopping what it started");
        add(client::exit_words(process));
        return text;
    }
    if (is_stopping) add("stopping");
    if (const auto left = text_at(process, "stop_failed"); !left.empty()) {
        add(fmt::format("not stopped: {}", left));
    }
    if (const auto until = text_at(process, "vouched_until"); !until.empty()) {
        const auto time = parse_rfc3339(until);
        if (time && *time > now) add("wanted, " + relative_time(*time, now));
    }
    if (const auto evidence = text_at(process, "evidence"); !evidence.empty()) {
        add(std::string(evidence));
    }
    return text;
}

std::string command_text(const JsonObject& process) {
    const auto title = text_at(process, "title");
    const auto command = text_at(process, "command");
    return title.empty() ? std::string(command) : fmt::format("{}: {}", title, command);
}

std::vector<Cell> row_of(const JsonObject& process, WallTime now) {
    const auto activity = text_at(process, "activity");
    const bool runs = client::is_running(process);
    return {{std::string(text_at(process, "process_id"))},
            {std::string(activity), tone_of_activity(activity)},
            {relative_time(text_at(process, "started_at"), now)},
            {fmt::format("{}", int_at(process, "pid")), runs ? Tone::plain : Tone::faint},
            {command_text(process)},
            {evidence_text(process, now), Tone::faint}};
}

std::vector<Column> columns() {
    return {{.title = "PROCESS"},
            {.title = "ACTIVITY"},
            {.title = "AGE", .drop_order = 2},
            {.title = "PID", .align = Align::right, .drop_order = 3},
            {.title = "COMMAND", .shrink_to = 10},
            {.title = "EVIDENCE", .shrink_to = 24, .drop_order = 1}};
}

bool belongs_to(const Json& process, std::string_view session) {
    const auto* row = process.if_object();
    return row != nullptr && text_at(*row, "session_id") == session;
}

std::string heading_of(const JsonObject& process, std::size_t count, const Terminal& terminal) {
    const auto words = client::session_words(process);
    const auto text = fmt::format("{}  {} process{}{}", one_line(text_at(process, "session_id")),
                                  count, count == 1 ? "" : "es", words.empty() ? "" : "; " + words);
    const auto fitted = terminal.width == 0 ? text : fit(text, terminal.width);
    return toned(fitted, words.empty() ? Tone::heading : Tone::warning, terminal) + "\n";
}

}  // namespace

Tone tone_of_activity(std::string_view activity) {
    if (activity == "working") return Tone::good;
    if (activity == "listening" || activity == "waiting") return Tone::warning;
    return Tone::faint;
}

Table process_table(const JsonArray& processes, WallTime now) {
    auto all = columns();
    all.insert(all.begin() + 1, Column{.title = "SESSION", .shrink_to = 12, .drop_order = 4});
    Table table(std::move(all));
    for (const auto& process : processes) {
        const auto* row = process.if_object();
        if (row == nullptr) continue;
        auto cells = row_of(*row, now);
        const bool is_open = text_at(*row, "session") == "open";
        cells.insert(cells.begin() + 1,
                     Cell{session_text(*row), is_open ? Tone::plain : Tone::warning});
        table.add(std::move(cells));
    }
    return table;
}

std::string process_tree(const JsonArray& processes, const Terminal& terminal, WallTime now) {
    constexpr std::size_t indent = 2;
    std::vector<std::string> sessions;
    for (const auto& process : processes) {
        const auto* row = process.if_object();
        if (row == nullptr) continue;
        std::string id(text_at(*row, "session_id"));
        if (std::ranges::find(sessions, id) == sessions.end()) sessions.push_back(std::move(id));
    }
    auto narrower = terminal;
    if (narrower.width > indent) narrower.width -= indent;
    std::string text;
    for (const auto& session : sessions) {
        Table table(columns());
        const JsonObject* first = nullptr;
        std::size_t count = 0;
        for (const auto& process : processes) {
            if (!belongs_to(process, session)) continue;
            if (first == nullptr) first = &process.get_object();
            table.add(row_of(process.get_object(), now));
            ++count;
        }
        text += heading_of(*first, count, terminal);
        const auto rows = table.render_rows(narrower);
        for (std::size_t at = 0; at < rows.size();) {
            const auto end = rows.find('\n', at) + 1;
            text += std::string(indent, ' ') + rows.substr(at, end - at);
            at = end;
        }
    }
    return text;
}

}  // namespace knell::cli
