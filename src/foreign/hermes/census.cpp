#include "foreign/hermes/census.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace knell::hermes {

namespace {

std::string day_of(WallTime time) {
    return format_rfc3339(time).substr(0, 10);
}

void count(Share& share, const SessionRow& row, const std::optional<RowVerdict>& verdict) {
    ++share.count;
    if (row.ended_at) return;
    ++share.open;
    if (verdict && verdict->verdict == Verdict::alive) ++share.alive;
}

NamedRow named(const SessionRow& row) {
    return {.id = row.id,
            .source = row.source,
            .started_at = row.started_at,
            .last_sign = row.last_sign(),
            .messages = row.messages,
            .verdict = Verdict::unknown,
            .why = {}};
}

/// Keeps the rows with the latest sign of life.  Cuts now and then: not with each row.
void keep_latest(std::vector<NamedRow>& rows, std::size_t above) {
    if (rows.size() <= above) return;
    std::ranges::sort(rows, [](const NamedRow& one, const NamedRow& other) {
        return one.last_sign != other.last_sign ? one.last_sign > other.last_sign
                                                : one.id < other.id;
    });
    if (rows.size() > census_rows_max) rows.resize(census_rows_max);
}

}  // namespace

double leak_rate(const Share& share) {
    if (share.count == 0) return 0;
    return static_cast<double>(share.open - share.alive) / static_cast<double>(share.count);
}

std::string lineage_fault(const SessionRow& row) {
    if (row.parent_id == row.id) return "it is its own parent";
    if (!row.parent_id.empty() && !row.parent_is_there) {
        return fmt::format("its parent {} is not there", row.parent_id);
    }
    if (row.parent_started_at && *row.parent_started_at > row.started_at) {
        return fmt::format("it started before its parent {}", row.parent_id);
    }
    if (row.end_reason == "compression" && !row.has_children) {
        return "it ended by compression, and nothing goes on from it";
    }
    return "";
}

void CensusCount::add(const SessionRow& row, const std::optional<RowVerdict>& verdict) {
    count(census_.all, row, verdict);
    count(census_.sources[row.source], row, verdict);
    if (census_.since && row.started_at >= *census_.since)
        count(census_.days[day_of(row.started_at)], row, verdict);
    if (row.ended_at) ++census_.reasons[row.end_reason];
    if (row.ended_at && *row.ended_at < row.started_at) ++census_.ended_before_start;
    auto& size = row.messages == 0             ? census_.empty
                 : row.messages <= trivial_max ? census_.trivial
                                               : census_.substantial;
    ++size;
    census_.messages += row.messages;
    if (row.messages != row.message_count) ++census_.count_mismatches;
    if (row.finalized && !row.ended_at) ++census_.finalized_open;
    if (auto fault = lineage_fault(row); !fault.empty()) {
        const bool is_orphan = !row.parent_id.empty() && !row.parent_is_there;
        ++(is_orphan ? census_.orphans : census_.broken_lineage);
        census_.broken_rows.push_back(named(row));
        census_.broken_rows.back().why = std::move(fault);
        keep_latest(census_.broken_rows, 2 * census_rows_max);
    }
    if (row.ended_at) return;
    const auto judged = verdict.value_or(RowVerdict{});
    ++census_.verdicts.at(static_cast<std::size_t>(judged.verdict));
    census_.open_rows.push_back(named(row));
    census_.open_rows.back().verdict = judged.verdict;
    census_.open_rows.back().why = judged.evidence;
    keep_latest(census_.open_rows, 2 * census_rows_max);
}

Census CensusCount::finish() && {
    keep_latest(census_.open_rows, 0);
    keep_latest(census_.broken_rows, 0);
    return std::move(census_);
}

}  // namespace knell::hermes
