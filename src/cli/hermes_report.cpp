#include "cli/hermes_report.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/bytes_text.hpp"
#include "cli/relative_time.hpp"
#include "cli/text_width.hpp"

namespace knell::cli {

namespace {

using hermes::Census;
using hermes::Examination;
using hermes::Verdict;

constexpr std::size_t rows_shown_max = 10;

std::string percent(double share) {
    return fmt::format("{:.1f} %", 100 * share);
}

std::string percent(std::int64_t count, std::int64_t all) {
    return percent(all == 0 ? 0 : static_cast<double>(count) / static_cast<double>(all));
}

std::int64_t count_of(const Census& census, Verdict verdict) {
    return census.verdicts.at(static_cast<std::size_t>(verdict));
}

/// "1 session", "2 sessions"
std::string counted(std::int64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// The figure that is looked for, in one sentence.
std::string headline(const Census& census) {
    const auto& all = census.all;
    if (all.count == 0) return "There are no sessions.\n";
    if (all.open == 0)
        return fmt::format("{}, and all of them have ended.\n", counted(all.count, "session"));
    return fmt::format(
        "{}, of which {} ({}) never ended: {} dead, {} unknown, {} alive. Leak rate {}.\n",
        counted(all.count, "session"), all.open, percent(all.open, all.count),
        count_of(census, Verdict::dead), count_of(census, Verdict::unknown),
        count_of(census, Verdict::alive), percent(hermes::leak_rate(all)));
}

Table reasons_table(const Census& census) {
    Table table({{"END REASON"}, {"SESSIONS", Align::right}, {"SHARE", Align::right}});
    std::vector<std::pair<std::int64_t, std::string>> rows;
    for (const auto& [reason, count] : census.reasons) {
        rows.emplace_back(count, reason.empty() ? "(ended, no reason)" : one_line(reason));
    }
    if (census.all.open > 0) rows.emplace_back(census.all.open, "(none: open)");
    std::ranges::sort(rows, [](const auto& one, const auto& other) {
        return one.first != other.first ? one.first > other.first : one.second < other.second;
    });
    for (const auto& [count, reason] : rows) {
        const bool is_open = reason == "(none: open)";
        table.add({{reason, is_open ? Tone::warning : Tone::plain},
                   {fmt::format("{}", count)},
                   {percent(count, census.all.count)}});
    }
    return table;
}

Table shares_table(const char* title, const std::map<std::string, hermes::Share>& shares) {
    Table table({{title},
                 {"SESSIONS", Align::right},
                 {"ENDED", Align::right},
                 {"OPEN", Align::right},
                 {"ALIVE", Align::right},
                 {"LEAK RATE", Align::right}});
    for (const auto& [name, share] : shares) {
        table.add({{one_line(name)},
                   {fmt::format("{}", share.count)},
                   {fmt::format("{}", share.count - share.open)},
                   {fmt::format("{}", share.open)},
                   {fmt::format("{}", share.alive)},
                   {percent(hermes::leak_rate(share))}});
    }
    return table;
}

std::vector<Fact> facts_of(const Examination& found) {
    const auto& census = found.census;
    const auto only = [](std::int64_t count, std::string text) {
        return count == 0 ? std::string{} : std::move(text);
    };
    return {
        {"store", fmt::format("{} (Hermes schema {}, {}), read {}", found.database, found.schema,
                              format_bytes(found.bytes),
                              found.read_a_copy ? "from a private copy" : "in place")},
        {"in use", found.in_use.empty() ? "no: nobody has it open" : one_line(found.in_use),
         found.in_use.empty() ? Tone::plain : Tone::warning},
        {"messages", fmt::format("{}; {} empty, {} trivial (1 to {}), {} substantial",
                                 census.messages, counted(census.empty, "session"), census.trivial,
                                 hermes::trivial_max, census.substantial)},
        {"orphans",
         only(census.orphans + census.orphan_messages,
              fmt::format("{} whose parent is not there, {} of sessions that are not there",
                          counted(census.orphans, "session"),
                          counted(census.orphan_messages, "message"))),
         Tone::warning},
        {"lineage",
         only(census.broken_lineage,
              fmt::format("broken in {}", counted(census.broken_lineage, "session"))),
         Tone::warning},
        {"counts",
         only(census.count_mismatches,
              fmt::format("{} whose message_count is not how many messages there are",
                          counted(census.count_mismatches, "session"))),
         Tone::warning},
        {"times",
         only(census.ended_before_start,
              fmt::format("{} ended before it started",
                          counted(census.ended_before_start, "session"))),
         Tone::warning},
        {"routing", only(found.routing_entries,
                         fmt::format("{}; {} lead to no session, {} finalized and without an end",
                                     counted(found.routing_entries, "key"), found.dangling_entries,
                                     found.finalized_without_end.size()))},
    };
}

std::string more_line(std::size_t all) {
    if (all <= rows_shown_max) return {};
    return fmt::format("... and {} more: --json names up to {}\n", all - rows_shown_max,
                       hermes::census_rows_max);
}

std::string named_rows(const std::vector<hermes::NamedRow>& rows, const char* last_column,
                       bool are_open, WallTime now, const Terminal& terminal) {
    if (rows.empty()) return {};
    Table table({{"SESSION"},
                 {"SOURCE", Align::left, 6, 2},
                 {"ACTIVE"},
                 {"MESSAGES", Align::right, 0, 1},
                 {are_open ? "OWNER" : "STARTED"},
                 {last_column, Align::left, 20}});
    for (const auto& row : std::span(rows).first(std::min(rows.size(), rows_shown_max))) {
        const auto tone = row.verdict == Verdict::alive  ? Tone::good
                          : row.verdict == Verdict::dead ? Tone::bad
                                                         : Tone::warning;
        const auto verdict = hermes::verdict_names.at(static_cast<std::size_t>(row.verdict));
        table.add(
            {{one_line(row.id)},
             {one_line(row.source)},
             {relative_time(row.last_sign, now)},
             {fmt::format("{}", row.messages)},
             are_open ? Cell{std::string(verdict), tone} : Cell{relative_time(row.started_at, now)},
             {one_line(row.why)}});
    }
    return "\n" + table.render(terminal) + more_line(rows.size());
}

std::string processes_text(const Examination& found, const Terminal& terminal) {
    if (found.processes.empty()) return {};
    Table table({{"PROCESS", Align::left, 12, 1},
                 {"PID", Align::right},
                 {"STATE"},
                 {"AGE", Align::right},
                 {"HOLDS A RESET"},
                 {"KEY", Align::left, 10, 2},
                 {"COMMAND", Align::left, 20}});
    for (const auto& [entry, judged] : found.processes) {
        const auto state = hermes::life_names.at(static_cast<std::size_t>(judged.life));
        table.add(
            {{one_line(entry.id)},
             {fmt::format("{}", entry.pid)},
             {std::string(state), judged.life == hermes::Life::alive ? Tone::good : Tone::warning},
             {judged.age ? format_duration(*judged.age) : ""},
             {judged.holds_reset ? "yes" : "no"},
             {one_line(entry.session_key)},
             {one_line(entry.command)}});
    }
    return fmt::format("\nBackground processes of processes.json:\n{}", table.render(terminal));
}

std::string hooks_text(const Examination& found) {
    std::string text;
    for (const auto& hook : found.hooks) {
        const auto events = fmt::format("{}", fmt::join(hook.events, ", "));
        text += fmt::format("\nhook {}: {}", one_line(hook.name),
                            hook.problem.empty() ? one_line(events) : one_line(hook.problem));
    }
    return text.empty() ? text : text + "\n";
}

std::string remarks_text(const Examination& found) {
    std::string text;
    for (const auto& problem : found.problems) text += fmt::format("{}\n", one_line(problem));
    if (found.settings) {
        for (const auto& remark : found.settings->remarks) {
            text += fmt::format("config.yaml: {}\n", one_line(remark));
        }
    }
    return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string hermes_report(const Examination& found, WallTime now, const Terminal& terminal) {
    const auto& census = found.census;
    auto text = headline(census);
    if (census.all.count > 0) {
        text += "\n" + reasons_table(census).render(terminal);
        text += "\n" + shares_table("SOURCE", census.sources).render(terminal);
    }
    if (!census.days.empty()) {
        text += "\n" + shares_table("STARTED", census.days).render(terminal);
    } else if (census.since) {
        text += fmt::format("\nNo session started since {}.\n",
                            format_rfc3339(*census.since).substr(0, 10));
    }
    text += "\n" + render_facts(facts_of(found), terminal);
    text += named_rows(census.open_rows, "EVIDENCE", /*are_open=*/true, now, terminal);
    text += named_rows(census.broken_rows, "FAULT", /*are_open=*/false, now, terminal);
    text += processes_text(found, terminal);
    text += hooks_text(found);
    text += remarks_text(found);
    return text;
}

std::string hermes_fix_report(const hermes::Fix& fix, bool dry_run, WallTime now,
                              const Terminal& terminal) {
    if (fix.ended == 0) {
        return fmt::format("There is nothing to end in {}: leak rate {}.\n", fix.database,
                           percent(hermes::leak_rate(fix.before))) +
               named_rows(fix.left_alone, "EVIDENCE", /*are_open=*/true, now, terminal);
    }
    auto text = fmt::format(
        "{} {} as \"reaped\", at the last sign of each. Leak rate {} before, "
        "{} after.\n",
        dry_run ? "Would end" : "Ended", counted(fix.ended, "session"),
        percent(hermes::leak_rate(fix.before)), percent(hermes::leak_rate(fix.after)));
    for (const auto& [source, count] : fix.by_source) {
        text += fmt::format("  {}: {}\n", one_line(source), count);
    }
    if (!fix.backup.empty()) {
        text += fmt::format("The store as it was before: {}\n", fix.backup);
    }
    if (fix.changed > 0) {
        text +=
            fmt::format("{} changed meanwhile and left alone.\n", counted(fix.changed, "session"));
    }
    if (!fix.left_alone.empty()) {
        text += fmt::format("{} left alone, because {} owner may live:\n",
                            counted(std::ssize(fix.left_alone), "session"),
                            fix.left_alone.size() == 1 ? "its" : "their");
    }
    return text + named_rows(fix.left_alone, "EVIDENCE", /*are_open=*/true, now, terminal);
}

}  // namespace knell::cli
