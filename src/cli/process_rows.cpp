#include "cli/process_rows.hpp"

#include <algorithm>
#include <utility>
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
    const auto left = text_at(process, "stop_failed");
    if (!client::is_running(process)) {
        if (is_stopping) add("stopping what it started");
        add(client::exit_words(process));
        // A stop that was given up while it still ran was taken back.
        const bool was_before = text_at(process, "stop_asked_at").empty();
        if (!left.empty()) {
            add(fmt::format("{}: {}", was_before ? "a stop had failed" : "left running", left));
        }
        return text;
    }
    if (is_stopping) add("stopping");
    if (!left.empty()) {
        add(fmt::format("not stopped: {}", left));
    }
    if (const auto until = text_at(process, "vouched_until"); !until.empty()) {
        const auto time = parse_rfc3339(until);
        if (time && *time > now)
            add(fmt::format("vouched for (ends {})", relative_time(*time, now)));
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
            {.title = "EVIDENCE", .drop_order = 1}};
}

/// A table of processes; where the evidence has no room beside the rest, it stands below each: it
/// is what the list is for, and half of it says little.
class ProcessRows {
  public:
    ProcessRows(std::vector<Column> columns, std::size_t indent)
        : evidence_(columns.size() - 1), indent_(indent), table_(std::move(columns)) {}

    void add(std::vector<Cell> cells) {
        evidences_.push_back(cells.back().text);
        table_.add(std::move(cells));
    }

    std::string render(Terminal terminal, bool with_titles) const {
        if (terminal.width > indent_) terminal.width -= indent_;
        const auto rows = table_.render_rows(terminal);
        const bool is_below = !table_.shows(evidence_, terminal);
        std::string text;
        if (with_titles) {
            const auto all = table_.render(terminal);
            put_lines(text, std::string_view(all).substr(0, all.size() - rows.size()));
        }
        std::string_view rest = rows;
        const auto lines = evidences_.empty() ? 0
                                              : std::ranges::count(rows, '\n') /
                                                    static_cast<std::ptrdiff_t>(evidences_.size());
        for (const auto& evidence : evidences_) {
            for (auto line = lines; line > 0; --line) {
                put_lines(text, rest.substr(0, rest.find('\n') + 1));
                rest.remove_prefix(rest.find('\n') + 1);
            }
            if (is_below && !evidence.empty()) put_lines(text, below(evidence, terminal));
        }
        return text;
    }

  private:
    static std::string below(const std::string& evidence, const Terminal& terminal) {
        constexpr std::size_t deeper = 2;
        const auto wrapped =
            wrap(one_line(evidence), {.width = terminal.width, .indent = deeper, .before = deeper});
        return fmt::format("{:{}}{}\n", "", deeper, toned(wrapped, Tone::faint, terminal));
    }
    void put_lines(std::string& text, std::string_view lines) const {
        while (!lines.empty()) {
            const auto size = lines.find('\n') + 1;
            text.append(indent_, ' ').append(lines.substr(0, size));
            lines.remove_prefix(size);
        }
    }

    const std::size_t evidence_;  // the last column
    const std::size_t indent_;
    Table table_;
    std::vector<std::string> evidences_;
};

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

std::string process_table(const JsonArray& processes, const Terminal& terminal, WallTime now) {
    auto all = columns();
    all.insert(all.begin() + 1, Column{.title = "SESSION", .shrink_to = 12, .drop_order = 4});
    ProcessRows rows(std::move(all), /*indent=*/0);
    for (const auto& process : processes) {
        const auto* row = process.if_object();
        if (row == nullptr) continue;
        auto cells = row_of(*row, now);
        const bool is_open = text_at(*row, "session") == "open";
        cells.insert(cells.begin() + 1,
                     Cell{session_text(*row), is_open ? Tone::plain : Tone::warning});
        rows.add(std::move(cells));
    }
    return rows.render(terminal, /*with_titles=*/true);
}

std::string process_tree(const JsonArray& processes, const Terminal& terminal, WallTime now) {
    std::vector<std::string> sessions;
    for (const auto& process : processes) {
        const auto* row = process.if_object();
        if (row == nullptr) continue;
        std::string id(text_at(*row, "session_id"));
        if (std::ranges::find(sessions, id) == sessions.end()) sessions.push_back(std::move(id));
    }
    std::string text;
    for (const auto& session : sessions) {
        ProcessRows rows(columns(), /*indent=*/2);
        const JsonObject* first = nullptr;
        std::size_t count = 0;
        for (const auto& process : processes) {
            if (!belongs_to(process, session)) continue;
            if (first == nullptr) first = &process.get_object();
            rows.add(row_of(process.get_object(), now));
            ++count;
        }
        text += heading_of(*first, count, terminal) + rows.render(terminal, /*with_titles=*/false);
    }
    return text;
}

}  // namespace knell::cli
