#include "mcp/process_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "client/process_words.hpp"

namespace knell::mcp {

namespace {

using wire::int_at;
using wire::text_at;

std::string doing(const JsonObject& process) {
    if (!client::is_running(process)) return "exited (" + client::exit_words(process) + ")";
    const auto evidence = text_at(process, "evidence");
    return fmt::format("{}{}", text_at(process, "activity"),
                       evidence.empty() ? "" : fmt::format(" ({})", evidence));
}

std::string weight(const JsonObject& process) {
    if (!client::is_running(process)) return {};
    return wire::bool_at(process, "counts") ? "; counts as work" : "; does not count as work";
}

std::string lines_of(const JsonArray& processes) {
    std::string lines;
    for (const auto& process : processes) {
        if (const auto* row = process.if_object()) lines += "\n- " + process_text(*row);
    }
    return lines;
}

std::string more_text(const JsonObject& page) {
    const auto next = text_at(page, "next");
    return next.empty() ? "" : fmt::format("\nThere are more: process_list with cursor {}", next);
}

bool is_running(const Json& process) {
    return process.is_object() && client::is_running(process.get_object());
}

}  // namespace

std::string process_text(const JsonObject& process) {
    auto text = fmt::format("{}: {}; pid {}; {}", text_at(process, "process_id"), doing(process),
                            int_at(process, "pid"), text_at(process, "command"));
    if (const auto title = text_at(process, "title"); !title.empty()) {
        text += fmt::format("; \"{}\"", title);
    }
    text += fmt::format("; started {}", text_at(process, "started_at"));
    text += weight(process);
    if (const auto until = text_at(process, "vouched_until"); !until.empty()) {
        text += fmt::format("; vouched for until {}", until);
    }
    if (const auto task = text_at(process, "task_id"); !task.empty()) {
        text += fmt::format("; task {}", task);
    }
    text += fmt::format("; session {}", text_at(process, "session_id"));
    if (const auto words = client::session_words(process); !words.empty()) {
        text += fmt::format(" ({})", words);
    }
    return text;
}

std::string list_text(const JsonObject& page, std::string_view of_whom) {
    const auto* processes = wire::array_at(page, "processes");
    if (processes == nullptr || processes->empty()) {
        return fmt::format("No background processes {}.", of_whom);
    }
    return fmt::format("{} background process{} {}, {} running:{}{}", processes->size(),
                       processes->size() == 1 ? "" : "es", of_whom,
                       std::ranges::count_if(*processes, is_running), lines_of(*processes),
                       more_text(page));
}

std::string status_text(const JsonObject& session, const JsonObject& page) {
    const auto id = text_at(session, "id");
    auto text = fmt::format("Session {} is {}", id, text_at(session, "status"));
    if (const auto title = text_at(session, "title"); !title.empty()) {
        text += fmt::format(" (\"{}\")", title);
    }
    if (const auto reason = text_at(session, "reason"); !reason.empty()) {
        text += fmt::format(": {} at {}", reason, text_at(session, "ended_at"));
    }
    return text + fmt::format(". {}", list_text(page, "of it"));
}

std::string output_text(const JsonObject& page) {
    const auto next = int_at(page, "next");
    std::string text;
    if (const auto* gap = wire::object_at(page, "gap")) {
        text += fmt::format("Bytes {} to {} are no longer kept. ", int_at(*gap, "from"),
                            int_at(*gap, "to"));
    }
    const bool is_more = wire::bool_at(page, "more");
    const bool runs = client::is_running(page);
    if (text_at(page, "output").empty()) text += "No output. ";
    text += is_more ? "There is more: "
            : runs  ? "The process is running; for what comes next: "
                    : "";
    if (is_more || runs) return text + fmt::format("process_output with after {}.", next);
    return text + "The process has exited; this is the end of its output.";
}

}  // namespace knell::mcp
