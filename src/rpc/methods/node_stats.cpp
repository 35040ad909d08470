// node.stats: what happened on the last days, by source.

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

#include <fmt/format.h>

#include "core/read_limits.hpp"
#include "rpc/methods/archive_methods.hpp"
#include "store/archive.hpp"
#include "wire/json.hpp"
#include "wire/session_fields.hpp"

namespace knell::rpc {

namespace {

using namespace wire::fields;

/// Stands for the sources of a day that have no row of their own.
constexpr std::string_view other_sources = "others";

constexpr std::array stats_params{
    Field{.name = "days",
          .type = integer,
          .min = 1,
          .max = limits::stats_days_max,
          .standard = limits::stats_days_default,
          .about = "of so many days, today included; 1 to 366, default 14"},
};
constexpr std::array reason_fields{
    always("reason", word, "why they ended"),
    always("ends", integer, "how many"),
};
constexpr std::array count_fields{
    always("starts", integer, "generations that were opened"),
    always("ends", integer, "generations that ended"),
    always_objects("reasons", reason_fields, "the ends by reason, most first"),
    always("leaked", integer,
           "of the sessions opened then: those with no end that anybody saw, because their owner "
           "cannot be checked now or they were imported as such"),
    always("leak_rate", number, "leaked by starts, 0 to 1"),
    always("input_tokens", integer, "tokens of all messages that are not the assistant's"),
    always("output_tokens", integer, "tokens of the assistant's messages"),
};
constexpr std::array day_fields = joined(
    std::array{
        always("day", text, "YYYY-MM-DD, in UTC"),
        always("source", text, "of the sessions; `others`: those of many more, together"),
    },
    count_fields);
constexpr std::array stats_result{
    always("since", time, "from the beginning of that day"),
    always("until", time, "now"),
    always_object("total", count_fields, "of all of it"),
    always_objects("by_day", day_fields,
                   "by day and source, the oldest first; where nothing happened there is none"),
};

void add(DayStats& sum, const DayStats& more) {
    sum.starts += more.starts;
    sum.leaked += more.leaked;
    add_up(sum.input_tokens, more.input_tokens);
    add_up(sum.output_tokens, more.output_tokens);
    for (const auto& [reason, ends] : more.ends) sum.ends[reason] += ends;
}

/// The sources with the most starts keep their names: whoever opens sessions names them.
Stats with_few_sources(Stats stats) {
    std::map<std::string, std::int64_t> starts;
    for (const auto& [key, day] : stats.days) starts[key.second] += day.starts;
    if (starts.size() <= limits::stats_sources_max) return stats;
    std::vector<std::pair<std::int64_t, std::string>> ranked;
    for (const auto& [source, count] : starts) ranked.emplace_back(-count, source);
    std::ranges::sort(ranked);
    for (std::size_t i = 0; i < limits::stats_sources_max; ++i) starts.erase(ranked[i].second);
    Stats few;
    for (const auto& [key, day] : stats.days) {
        const auto& [date, source] = key;
        add(few.days[{date, starts.contains(source) ? std::string(other_sources) : source}], day);
    }
    return few;
}

JsonObject render(const DayStats& day) {
    std::vector<std::pair<std::int64_t, Reason>> reasons;
    std::int64_t all = 0;
    for (const auto& [reason, ends] : day.ends) {
        reasons.emplace_back(-ends, reason);
        all += ends;
    }
    std::ranges::sort(reasons);
    JsonArray by_reason;
    for (const auto& [ends, reason] : reasons) {
        by_reason.push_back(JsonObject{{"reason", name_of(reason)}, {"ends", -ends}});
    }
    // What was imported may have been opened before anything was counted.
    const auto opened = std::max(day.starts, day.leaked);
    const auto rate =
        opened == 0 ? 0.0 : static_cast<double>(day.leaked) / static_cast<double>(opened);
    return {{"starts", day.starts},
            {"ends", all},
            {"reasons", std::move(by_reason)},
            {"leaked", day.leaked},
            {"leak_rate", rate},
            {"input_tokens", day.input_tokens},
            {"output_tokens", day.output_tokens}};
}

Result<Json> read_and_render(WallTime since, WallTime now, Reader& reader) {
    auto read = archive_of(reader).stats(since);
    if (!read) return std::unexpected(std::move(read.error()));
    DayStats total;
    JsonArray days;
    for (const auto& [key, day] : with_few_sources(std::move(*read)).days) {
        add(total, day);
        const auto date = WallTime{std::chrono::days{key.first}};
        JsonObject row{{"day", format_rfc3339(date).substr(0, 10)}, {"source", key.second}};
        for (auto& [name, value] : render(day)) row[name] = std::move(value);
        days.push_back(std::move(row));
    }
    return JsonObject{{"since", format_rfc3339(since)},
                      {"until", format_rfc3339(now)},
                      {"total", render(total)},
                      {"by_day", std::move(days)}};
}

void stats(Call&& call, Backend& backend) {
    auto given = given_of<stats_params>(call);
    const auto days = given.get<"days">();
    if (given.error()) return call.respond(given.failure());
    const auto now = backend.wall_time();
    const auto today = std::chrono::floor<std::chrono::days>(now.time_since_epoch());
    const auto since = WallTime{today - std::chrono::days{days - 1}};
    backend.read(
        call.caller.connection,
        [since, now](Reader& reader) { return read_and_render(since, now, reader); },
        std::move(call.respond));
}

constexpr std::array family{
    Method{"node.stats", "starts, ends and tokens of the last days, by source", stats_params,
           stats_result, stats, /*is_ordered=*/false, Access::read_only},
};

}  // namespace

std::span<const Method> node_stats_methods() {
    return family;
}

}  // namespace knell::rpc
