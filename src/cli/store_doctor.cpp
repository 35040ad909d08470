#include "cli/store_doctor.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "cli/bytes_text.hpp"
#include "cli/relative_time.hpp"
#include "cli/text_width.hpp"
#include "wire/session_json.hpp"

namespace knell::cli {

namespace {

using sqlite::StoreCensus;
using Verdict = StoreExamination::Verdict;

constexpr std::size_t rows_shown_max = 10;

double share_of(std::int64_t count, std::int64_t all) {
    if (all == 0) return 0;
    return std::round(10'000.0 * static_cast<double>(count) / static_cast<double>(all)) / 10'000.0;
}

std::string percent(std::int64_t count, std::int64_t all) {
    return fmt::format("{:.1f} %", 100 * share_of(count, all));
}

std::int64_t count_of(const StoreExamination& found, Verdict verdict) {
    return std::ranges::count(found.judged, verdict, &StoreExamination::Judged::verdict);
}

std::string_view name(Verdict verdict) {
    return store_verdict_names.at(static_cast<std::size_t>(verdict));
}

std::string_view name(sqlite::StoreFault::Kind kind) {
    return sqlite::store_fault_names.at(static_cast<std::size_t>(kind));
}

/// By reason alone, the most frequent first.
std::vector<std::pair<std::int64_t, std::string>> reasons_of(const StoreCensus& census) {
    std::map<std::string, std::int64_t> counts;
    for (const auto& [key, count] : census.ends) counts[key.first] += count;
    if (census.open > 0) counts["(none: open)"] = census.open;
    std::vector<std::pair<std::int64_t, std::string>> rows;
    for (const auto& [reason, count] : counts) rows.emplace_back(count, reason);
    std::ranges::sort(rows, [](const auto& one, const auto& other) {
        return one.first != other.first ? one.first > other.first : one.second < other.second;
    });
    return rows;
}

std::string headline(const StoreExamination& found) {
    const auto& census = found.census;
    if (census.sessions == 0) return "There are no sessions.";
    return fmt::format(
        "{} session{}, of which {} open: {} alive, {} dead, {} unknown. {}", census.sessions,
        census.sessions == 1 ? "" : "s", census.open, count_of(found, Verdict::alive),
        count_of(found, Verdict::dead), count_of(found, Verdict::unknown),
        census.fault_count == 0 ? std::string("Nothing is wrong.")
                                : fmt::format("{} thing{} wrong.", census.fault_count,
                                              census.fault_count == 1 ? " is" : "s are"));
}

}  // namespace

JsonObject store_json(const StoreExamination& found) {
    const auto& census = found.census;
    JsonObject store{{"kind", "knell"},
                     {"path", found.path},
                     {"schema", census.schema},
                     {"bytes", census.bytes},
                     {"free_bytes", census.free_bytes}};
    if (found.daemon) store["daemon_pid"] = found.daemon->pid;
    JsonArray reasons;
    for (const auto& [key, count] : census.ends) {
        reasons.push_back(JsonObject{{"reason", key.first},
                                     {"proof", key.second},
                                     {"count", count},
                                     {"share", share_of(count, census.sessions)}});
    }
    JsonArray sources;
    for (const auto& [source, row] : census.sources) {
        sources.push_back(
            JsonObject{{"source", source}, {"sessions", row.sessions}, {"open", row.open}});
    }
    JsonArray rows;
    for (std::size_t i = 0; i < census.open_rows.size(); ++i) {
        auto row = wire::to_json(census.open_rows[i]);
        row["verdict"] = name(found.judged[i].verdict);
        row["verdict_evidence"] = found.judged[i].evidence;
        rows.push_back(std::move(row));
    }
    JsonArray faults;
    for (const auto& fault : census.faults) {
        JsonObject one{{"kind", name(fault.kind)},
                       {"what", fault.what},
                       {"repairable", fault.is_repairable()}};
        if (!fault.session_id.empty()) one["session_id"] = fault.session_id;
        faults.push_back(std::move(one));
    }
    return {{"store", std::move(store)},
            {"sessions", census.sessions},
            {"open", census.open},
            {"ended", census.sessions - census.open},
            {"alive", count_of(found, Verdict::alive)},
            {"dead", count_of(found, Verdict::dead)},
            {"unknown", count_of(found, Verdict::unknown)},
            {"end_reasons", std::move(reasons)},
            {"by_source", std::move(sources)},
            {"commands", census.commands},
            {"empty", census.empty},
            {"trivial", census.trivial},
            {"substantial", census.substantial},
            {"messages", census.messages},
            {"events", census.events},
            {"orphans", census.orphans},
            {"bytes", census.bytes},
            {"open_rows", std::move(rows)},
            {"fault_count", census.fault_count},
            {"faults", std::move(faults)}};
}

std::string store_report(const StoreExamination& found, WallTime now, const Terminal& terminal) {
    const auto& census = found.census;
    auto text = headline(found) + "\n";
    if (census.sessions > 0) {
        Table reasons({{"END REASON"}, {"SESSIONS", Align::right}, {"SHARE", Align::right}});
        for (const auto& [count, reason] : reasons_of(census)) {
            reasons.add({{reason}, {fmt::format("{}", count)}, {percent(count, census.sessions)}});
        }
        Table sources({{"SOURCE"}, {"SESSIONS", Align::right}, {"OPEN", Align::right}});
        for (const auto& [source, row] : census.sources) {
            sources.add({{one_line(source)},
                         {fmt::format("{}", row.sessions)},
                         {fmt::format("{}", row.open)}});
        }
        text += "\n" + reasons.render(terminal) + "\n" + sources.render(terminal);
    }
    text += "\n" +
            render_facts(
                {{"store",
                  fmt::format("{} (schema {}, {}, of which {} are free)", found.path, census.schema,
                              format_bytes(census.bytes), format_bytes(census.free_bytes))},
                 {"daemon", found.daemon ? fmt::format("pid {}", found.daemon->pid)
                                         : std::string("none runs")},
                 {"sizes",
                  fmt::format("{} empty, {} trivial (1 to 5 messages), {} substantial; {} "
                              "were commands, which have no messages here",
                              census.empty, census.trivial, census.substantial, census.commands)},
                 {"records", fmt::format("{} messages, {} events", census.messages, census.events)},
                 {"orphans", census.orphans == 0 ? std::string{}
                                                 : fmt::format("{} whose parent is not on record",
                                                               census.orphans)}},
                terminal);
    if (!census.open_rows.empty()) {
        Table rows({{"SESSION"}, {"SOURCE"}, {"ACTIVE"}, {"OWNER"}, {"EVIDENCE", Align::left, 20}});
        for (std::size_t i = 0; i < std::min(census.open_rows.size(), rows_shown_max); ++i) {
            const auto& row = census.open_rows[i];
            const auto verdict = found.judged[i].verdict;
            rows.add({{row.id.text()},
                      {one_line(row.source)},
                      {relative_time(row.last_activity_at, now)},
                      {std::string(name(verdict)), verdict == Verdict::alive  ? Tone::good
                                                   : verdict == Verdict::dead ? Tone::bad
                                                                              : Tone::warning},
                      {one_line(found.judged[i].evidence)}});
        }
        text += "\n" + rows.render(terminal);
        if (census.open_rows.size() > rows_shown_max) {
            text += fmt::format("... and {} more: --json names up to {}\n",
                                census.open - static_cast<std::int64_t>(rows_shown_max),
                                StoreCensus::rows_max);
        }
    }
    if (census.faults.empty()) return text;
    text += "\n";
    for (const auto& fault :
         std::span(census.faults).first(std::min(census.faults.size(), rows_shown_max))) {
        text +=
            fmt::format("{}{}{}: {}\n", name(fault.kind), fault.session_id.empty() ? "" : " of ",
                        one_line(fault.session_id), one_line(fault.what));
    }
    const bool can_repair = std::ranges::any_of(census.faults, &sqlite::StoreFault::is_repairable);
    if (can_repair) text += "What follows from the rest can be made right: knell doctor --repair\n";
    return text;
}

}  // namespace knell::cli
