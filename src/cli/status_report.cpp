#include "cli/status_report.hpp"

#include <fmt/format.h>

#include "cli/bytes_text.hpp"
#include "cli/relative_time.hpp"
#include "cli/text_width.hpp"
#include "core/session.hpp"

namespace knell::cli {

namespace {

using wire::int_at;
using wire::text_at;

std::string describe(const JsonObject& status, std::string_view part,
                     std::string (*text)(const JsonObject&)) {
    const auto* object = wire::object_at(status, part);
    return object == nullptr ? std::string{} : text(*object);
}

std::string store_text(const JsonObject& store) {
    return fmt::format("{} {} {} ({}, schema {})", text_at(store, "kind"),
                       text_at(store, "sqlite_version"), text_at(store, "path"),
                       format_bytes(int_at(store, "bytes")), int_at(store, "schema"));
}

/// "10 completed, 2 signaled"; "" when there are none.
std::string counts_text(const JsonObject& counts) {
    std::string text;
    for (const auto& entry : counts) {
        const std::string_view name = entry.key();
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", int_at(counts, name), name);
    }
    return text;
}

/// Zeros are omitted, except `unknown`.
std::string sessions_text(const JsonObject& sessions) {
    JsonObject shown;
    for (const auto name : status_names) {
        if (int_at(sessions, name) > 0) shown[name] = int_at(sessions, name);
    }
    if (sessions.contains("unknown")) shown["unknown"] = int_at(sessions, "unknown");
    const auto counts = counts_text(shown);
    return fmt::format("{} open{}{}", int_at(sessions, "open"), counts.empty() ? "" : ": ", counts);
}

/// Somebody waits for a new conversation; "" when nobody does.
std::string resets_text(const JsonObject& resets) {
    const auto held = int_at(resets, "held");
    if (held == 0) return {};
    return fmt::format(
        "{} {} due and {} for background work; `knell ls --json` has it in "
        "reset_held_since, `knell why ID` names what works",
        held, held == 1 ? "is" : "are", held == 1 ? "waits" : "wait");
}

std::string ends_text(const JsonObject& ends) {
    const auto total = int_at(ends, "total");
    const auto* reasons = wire::object_at(ends, "by_reason");
    const auto* proofs = wire::object_at(ends, "by_proof");
    if (total == 0 || reasons == nullptr || proofs == nullptr) return fmt::format("{}", total);
    return fmt::format("{}: {}; by proof: {}", total, counts_text(*reasons), counts_text(*proofs));
}

Fact ends_fact(const JsonObject& status, std::string_view span) {
    const auto* ended = wire::object_at(status, "ended");
    if (ended == nullptr) return {};
    return {fmt::format("ended in a {}", span), describe(*ended, span, ends_text)};
}

Fact leaks_fact(const JsonObject& status) {
    const auto* leaks = wire::object_at(status, "leaks");
    if (leaks == nullptr) return {};
    const auto count = int_at(*leaks, "ended_without_reason");
    return {"leaks", fmt::format("{} ended row{} without a reason", count, count == 1 ? "" : "s"),
            count == 0 ? Tone::plain : Tone::bad};
}

std::string leases_text(const JsonObject& leases) {
    auto text = fmt::format("{} live; {} heartbeats, {} reaps so far", int_at(leases, "live"),
                            int_at(leases, "heartbeats"), int_at(leases, "reaps"));
    if (int_at(leases, "reaps") > 0) {
        text += fmt::format(", the last {} ms late, the latest {} ms",
                            int_at(leases, "reap_lateness_last_ms"),
                            int_at(leases, "reap_lateness_max_ms"));
    }
    return text;
}

std::string watched_text(const JsonObject& status) {
    if (!status.contains("watched_processes")) return {};
    const auto count = int_at(status, "watched_processes");
    auto text = fmt::format("{} process{}", count, count == 1 ? "" : "es");
    const auto* watch = wire::object_at(status, "watch");
    if (watch == nullptr) return text;
    if (const auto looked_at = int_at(*watch, "looked_at"); looked_at > 0) {
        text += fmt::format(", {} of them by looking every second or so: no pidfd can be had",
                            looked_at);
    }
    if (const auto unknown = int_at(*watch, "unknown"); unknown > 0) {
        text += fmt::format("; {} more cannot be checked and {} looked for again", unknown,
                            unknown == 1 ? "is" : "are");
    }
    return text;
}

std::string events_text(const JsonObject& events) {
    return fmt::format("{} so far", int_at(events, "last_seq"));
}

std::string journal_text(const JsonObject& journal) {
    return fmt::format("{} commands in {} commits; {} of {} queued", int_at(journal, "commands"),
                       int_at(journal, "commits"), int_at(journal, "queued"),
                       int_at(journal, "queued_max"));
}

std::string connections_text(const JsonObject& connections) {
    return fmt::format("{} of {}", int_at(connections, "open"), int_at(connections, "max"));
}

/// Only while they are noticed late.
std::string file_watch_text(const JsonObject& watch) {
    return fmt::format("looked for every few seconds: {}", text_at(watch, "why"));
}

std::string uptime_text(const JsonObject& status) {
    if (!status.contains("uptime_s")) return std::string(text_at(status, "started_at"));
    return fmt::format("{}, since {}",
                       format_duration(std::chrono::seconds{int_at(status, "uptime_s")}),
                       text_at(status, "started_at"));
}

/// "3: 2 active, 1 failing"; "" where there are none.
std::string hooks_text(const JsonObject& answer) {
    const auto* hooks = wire::array_at(answer, "hooks");
    if (hooks == nullptr || hooks->empty()) return {};
    JsonObject states;
    for (const auto& hook : *hooks) {
        const auto* object = hook.if_object();
        if (object == nullptr) continue;
        const auto state = text_at(*object, "state");
        states[state] = int_at(states, state) + 1;
    }
    return fmt::format("{}: {}", hooks->size(), counts_text(states));
}

std::string disk_text(const DaemonSurroundings& around) {
    if (!around.disk_free || !around.disk_bytes) return {};
    return fmt::format("{} free of {}", format_bytes(*around.disk_free),
                       format_bytes(*around.disk_bytes));
}

std::string log_text(const DaemonSurroundings& around) {
    if (!around.log_bytes) return {};
    return fmt::format("{} ({}); knell logs prints it", around.log_file,
                       format_bytes(*around.log_bytes));
}

}  // namespace

std::string http_text(const JsonObject& status) {
    const auto address = text_at(status, "http");
    return address.empty() ? std::string{} : fmt::format("http://{}", address);
}

std::vector<Fact> status_facts(const JsonObject& status, const DaemonSurroundings& around) {
    std::vector<Fact> facts{
        {"version", fmt::format("{} ({})", text_at(status, "version"), text_at(status, "commit"))},
        {"pid", fmt::format("{}", int_at(status, "pid"))},
        {"up", uptime_text(status)},
        {"host", std::string(text_at(status, "host"))},
        {"node", std::string(text_at(status, "node_id"))},
        {"home", std::string(text_at(status, "home"))},
        {"socket", std::string(text_at(status, "socket"))},
        {"http", http_text(status)},
        {"store", describe(status, "store", store_text)},
        {"disk", disk_text(around)},
        {"log", log_text(around)},
        {"sessions", describe(status, "sessions", sessions_text)},
        {"resets", describe(status, "resets", resets_text), Tone::warning},
        ends_fact(status, "day"),
        ends_fact(status, "week"),
        leaks_fact(status),
        {"hooks", hooks_text(around.hooks)},
        {"leases", describe(status, "leases", leases_text)},
        {"watched", watched_text(status)},
        {"events", describe(status, "events", events_text)},
        {"journal", describe(status, "journal", journal_text)},
        {"connections", describe(status, "connections", connections_text)},
        {"changed files", describe(status, "file_watch", file_watch_text), Tone::warning},
    };
    return facts;
}

std::string verdict_text(const JsonObject& status, const StatusVerdict& verdict,
                         const Terminal& terminal) {
    const auto* sessions = wire::object_at(status, "sessions");
    const auto open = sessions == nullptr ? 0 : int_at(*sessions, "open");
    const auto count = verdict.problems.size();
    const auto head = verdict.is_healthy()
                          ? fmt::format("healthy: {} session{} open, nothing is wrong", open,
                                        open == 1 ? "" : "s")
                          : fmt::format("not healthy: {} thing{} to be mended", count,
                                        count == 1 ? " has" : "s have");
    auto text = toned(head, verdict.is_healthy() ? Tone::good : Tone::bad, terminal) + "\n";
    const Wrapping hanging{.width = terminal.width, .indent = 2, .before = 2};
    const auto add = [&](const std::vector<std::string>& lines, Tone tone) {
        for (const auto& line : lines) {
            text += fmt::format("- {}\n", toned(wrap(line, hanging), tone, terminal));
        }
    };
    add(verdict.problems, Tone::bad);
    add(verdict.remarks, Tone::warning);
    return text + "\n";
}

}  // namespace knell::cli
