#include <cmath>

#include "cli/hermes_report.hpp"

namespace knell::cli {

namespace {

using hermes::Census;
using hermes::Examination;

/// To a ten-thousandth: a share is for reading.
double share_of(std::int64_t count, std::int64_t all) {
    if (all == 0) return 0;
    return std::round(10'000.0 * static_cast<double>(count) / static_cast<double>(all)) / 10'000.0;
}

double rate_of(const hermes::Share& share) {
    return share_of(share.open - share.alive, share.count);
}

JsonObject share_json(const hermes::Share& share) {
    return {{"sessions", share.count},
            {"open", share.open},
            {"alive", share.alive},
            {"leak_rate", rate_of(share)}};
}

JsonArray reasons_json(const Census& census) {
    JsonArray rows;
    for (const auto& [reason, count] : census.reasons) {
        rows.push_back(JsonObject{
            {"reason", reason}, {"count", count}, {"share", share_of(count, census.all.count)}});
    }
    if (census.all.open > 0) {
        rows.push_back(JsonObject{{"reason", nullptr},
                                  {"count", census.all.open},
                                  {"share", share_of(census.all.open, census.all.count)}});
    }
    return rows;
}

JsonArray rows_json(const std::vector<hermes::NamedRow>& rows, bool are_open) {
    JsonArray list;
    for (const auto& row : rows) {
        JsonObject object{{"session_id", row.id},
                          {"source", row.source},
                          {"started_at", format_rfc3339(row.started_at)},
                          {"last_activity_at", format_rfc3339(row.last_sign)},
                          {"messages", row.messages}};
        if (are_open) {
            object["verdict"] = hermes::verdict_names.at(static_cast<std::size_t>(row.verdict));
            object["evidence"] = row.why;
        } else {
            object["fault"] = row.why;
        }
        list.push_back(std::move(object));
    }
    return list;
}

JsonObject census_json(const Census& census) {
    JsonArray sources;
    for (const auto& [source, share] : census.sources) {
        auto row = share_json(share);
        row["source"] = source;
        sources.push_back(std::move(row));
    }
    JsonArray days;
    for (const auto& [day, share] : census.days) {
        auto row = share_json(share);
        row["day"] = day;
        days.push_back(std::move(row));
    }
    const auto verdict = [&](hermes::Verdict one) {
        return census.verdicts.at(static_cast<std::size_t>(one));
    };
    auto object = share_json(census.all);
    object["ended"] = census.all.count - census.all.open;
    object["dead"] = verdict(hermes::Verdict::dead);
    object["unknown"] = verdict(hermes::Verdict::unknown);
    object["open_share"] = share_of(census.all.open, census.all.count);
    object["end_reasons"] = reasons_json(census);
    object["by_source"] = std::move(sources);
    object["empty"] = census.empty;
    object["trivial"] = census.trivial;
    object["substantial"] = census.substantial;
    object["messages"] = census.messages;
    object["orphan_messages"] = census.orphan_messages;
    object["orphans"] = census.orphans;
    object["broken_lineage"] = census.broken_lineage;
    object["count_mismatches"] = census.count_mismatches;
    object["ended_before_start"] = census.ended_before_start;
    object["finalized_open"] = census.finalized_open;
    object["open_rows"] = rows_json(census.open_rows, /*are_open=*/true);
    object["broken_rows"] = rows_json(census.broken_rows, /*are_open=*/false);
    if (census.since) object["by_day"] = std::move(days);
    return object;
}

JsonArray processes_json(const Examination& found) {
    JsonArray list;
    for (const auto& [entry, judged] : found.processes) {
        JsonObject object{{"process_id", entry.id},
                          {"pid", entry.pid},
                          {"command", entry.command},
                          {"state", hermes::life_names.at(static_cast<std::size_t>(judged.life))},
                          {"holds_reset", judged.holds_reset}};
        if (!entry.session_key.empty()) object["session_key"] = entry.session_key;
        if (!entry.parent_session_id.empty()) object["session_id"] = entry.parent_session_id;
        if (entry.started_at) object["started_at"] = format_rfc3339(*entry.started_at);
        if (judged.age) object["age_s"] = judged.age->count();
        list.push_back(std::move(object));
    }
    return list;
}

JsonArray hooks_json(const Examination& found) {
    JsonArray list;
    for (const auto& hook : found.hooks) {
        JsonArray events;
        for (const auto& event : hook.events) events.emplace_back(event);
        JsonObject object{{"name", hook.name}, {"events", std::move(events)}};
        if (!hook.problem.empty()) object["problem"] = hook.problem;
        list.push_back(std::move(object));
    }
    return list;
}

JsonArray texts_json(const std::vector<std::string>& texts) {
    JsonArray list;
    for (const auto& text : texts) list.emplace_back(text);
    return list;
}

JsonObject settings_json(const hermes::Settings& settings) {
    JsonObject object;
    if (!settings.reset_mode.empty()) object["reset_mode"] = settings.reset_mode;
    if (settings.idle_minutes) object["idle_minutes"] = *settings.idle_minutes;
    if (settings.at_hour) object["at_hour"] = *settings.at_hour;
    if (settings.process_max_age_hours) {
        object["bg_process_max_age_hours"] = *settings.process_max_age_hours;
    }
    if (settings.auto_prune) object["auto_prune"] = *settings.auto_prune;
    if (settings.retention_days) object["retention_days"] = *settings.retention_days;
    object["remarks"] = texts_json(settings.remarks);
    return object;
}

}  // namespace

JsonObject hermes_json(const Examination& found) {
    JsonObject store{{"kind", "hermes"},       {"dir", found.dir},
                     {"path", found.database}, {"schema", found.schema},
                     {"bytes", found.bytes},   {"read", found.read_a_copy ? "copy" : "in place"}};
    if (!found.in_use.empty()) store["in_use"] = found.in_use;
    JsonObject result{{"store", std::move(store)}};
    for (auto& [name, value] : census_json(found.census)) result[name] = value;
    result["bytes"] = found.bytes;
    JsonArray finalized;
    for (const auto& entry : found.finalized_without_end) {
        finalized.push_back(
            JsonObject{{"session_key", entry.key}, {"session_id", entry.session_id}});
    }
    result["routing"] = JsonObject{{"entries", found.routing_entries},
                                   {"dangling", found.dangling_entries},
                                   {"finalized_without_end", std::move(finalized)}};
    result["processes"] = processes_json(found);
    result["hooks"] = hooks_json(found);
    if (found.settings) result["config"] = settings_json(*found.settings);
    result["problems"] = texts_json(found.problems);
    return result;
}

JsonObject hermes_fix_json(const hermes::Fix& fix, bool dry_run) {
    JsonObject by_source;
    for (const auto& [source, count] : fix.by_source) by_source[source] = count;
    JsonObject result{{"dry_run", dry_run},
                      {"path", fix.database},
                      {"ended", fix.ended},
                      {"reason", "reaped"},
                      {"by_source", std::move(by_source)},
                      {"before", share_json(fix.before)},
                      {"after", share_json(fix.after)},
                      {"changed_meanwhile", fix.changed},
                      {"left_alone", rows_json(fix.left_alone, /*are_open=*/true)}};
    if (!fix.backup.empty()) result["backup"] = fix.backup;
    return result;
}

}  // namespace knell::cli
