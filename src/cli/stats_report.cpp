#include "cli/stats_report.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/time.hpp"
#include "cli/bar_chart.hpp"
#include "cli/table.hpp"
#include "cli/text_width.hpp"

namespace knell::cli {

namespace {

using wire::int_at;
using wire::text_at;
using Days = std::chrono::days;

/// More days than this are added up by week.
constexpr std::int64_t single_days_max = 31;

struct Sum {
    std::int64_t starts = 0;
    std::int64_t tokens = 0;

    void add(const JsonObject& row) {
        starts += int_at(row, "starts");
        tokens += int_at(row, "input_tokens") + int_at(row, "output_tokens");
    }
};

std::string day_text(WallTime day) {
    return format_rfc3339(day).substr(0, 10);
}

std::int64_t days_in(WallTime since, WallTime until) {
    return std::chrono::ceil<Days>(until - since).count();
}

/// Every day, or the first of every week, with what happened; also where nothing did.
std::vector<std::pair<std::string, Sum>> by_time(const JsonArray& rows, WallTime since,
                                                 WallTime until) {
    const auto step = Days{days_in(since, until) > single_days_max ? 7 : 1};
    std::vector<std::pair<std::string, Sum>> sums;
    for (auto day = since; day < until; day += step) sums.emplace_back(day_text(day), Sum{});
    for (const auto& row : rows) {
        const auto* object = row.if_object();
        if (object == nullptr) continue;
        const auto day = parse_rfc3339(fmt::format("{}T00:00:00Z", text_at(*object, "day")));
        if (!day || *day < since) continue;
        const auto place = static_cast<std::size_t>((*day - since) / step);
        if (place < sums.size()) sums[place].second.add(*object);
    }
    return sums;
}

std::string chart(std::string_view title, const std::vector<Bar>& bars, const Terminal& terminal) {
    if (bars.empty()) return {};
    return fmt::format("\n{}\n{}", toned(title, Tone::heading, terminal),
                       bar_chart(bars, terminal));
}

std::string times_chart(std::string_view title, std::int64_t Sum::* part,
                        const std::vector<std::pair<std::string, Sum>>& sums,
                        const Terminal& terminal) {
    std::vector<Bar> bars;
    for (const auto& [label, sum] : sums) {
        bars.push_back({label, sum.*part, short_number(sum.*part)});
    }
    return chart(title, bars, terminal);
}

std::string reasons_chart(const JsonObject& total, const Terminal& terminal) {
    std::vector<Bar> bars;
    if (const auto* reasons = wire::array_at(total, "reasons")) {
        for (const auto& reason : *reasons) {
            const auto* object = reason.if_object();
            if (object == nullptr) continue;
            const auto ends = int_at(*object, "ends");
            bars.push_back({std::string(text_at(*object, "reason")), ends, short_number(ends)});
        }
    }
    return chart("Ends by reason", bars, terminal);
}

std::string sources_chart(const JsonArray& rows, const Terminal& terminal) {
    std::map<std::string, Sum> sums;
    for (const auto& row : rows) {
        if (const auto* object = row.if_object()) {
            sums[std::string(text_at(*object, "source"))].add(*object);
        }
    }
    std::vector<Bar> bars;
    for (const auto& [source, sum] : sums) {
        bars.push_back(
            {source, sum.starts,
             fmt::format("{}, {} tokens", short_number(sum.starts), short_number(sum.tokens))});
    }
    // No stable_sort: with clang the library's own is deprecated.
    std::ranges::sort(bars, [](const Bar& left, const Bar& right) {
        return left.value != right.value ? left.value > right.value : left.label < right.label;
    });
    return chart("Starts by source", bars, terminal);
}

std::string sentence(const JsonObject& total, WallTime since, WallTime until,
                     const Terminal& terminal) {
    const auto* rate = total.if_contains("leak_rate");
    const auto percent = rate != nullptr && rate->is_double() ? rate->get_double() * 100 : 0.0;
    const auto days = std::chrono::ceil<Days>(until - since).count();
    const auto text = fmt::format(
        "{} {} to {} (UTC): {} starts, {} ends, {} leaked ({:.1f} %), {} tokens in, {} out.", days,
        days == 1 ? "day" : "days", day_text(until), int_at(total, "starts"), int_at(total, "ends"),
        int_at(total, "leaked"), percent, short_number(int_at(total, "input_tokens")),
        short_number(int_at(total, "output_tokens")));
    return wrap(text, {.width = terminal.width, .indent = 0, .before = 0}) + "\n";
}

}  // namespace

std::string stats_report(const JsonObject& stats, const Terminal& terminal) {
    const auto* total = wire::object_at(stats, "total");
    const auto* rows = wire::array_at(stats, "by_day");
    const auto since = parse_rfc3339(text_at(stats, "since"));
    const auto until = parse_rfc3339(text_at(stats, "until"));
    if (total == nullptr || rows == nullptr || !since || !until) return {};
    auto report = sentence(*total, *since, *until, terminal);
    if (rows->empty()) return report;
    const auto sums = by_time(*rows, *since, *until);
    const bool is_by_day = days_in(*since, *until) <= single_days_max;
    report +=
        times_chart(is_by_day ? "Starts by day" : "Starts by week", &Sum::starts, sums, terminal);
    report += reasons_chart(*total, terminal);
    report += sources_chart(*rows, terminal);
    report +=
        times_chart(is_by_day ? "Tokens by day" : "Tokens by week", &Sum::tokens, sums, terminal);
    return report;
}

}  // namespace knell::cli
