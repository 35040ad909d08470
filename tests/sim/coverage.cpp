#include "coverage.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace knell::sim {

namespace {

/// Cells that can be, and that only several thousand seeds reach: the fixed ones are not asked for
/// them, and say which they missed.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> seldom{{
    {"compress", "background"},
    {"compress", "unknown"},
    {"compress", "detached"},
    {"reset by message", "stalled"},
    {"reset deferred", "unknown"},
    {"reset deferred", "detached"},
    {"says: never again", "paused"},
    {"is registered", "stale"},
    {"oom-killed", "stale"},
    {"never ran", "vouched"},
    {"goes stale", "stale"},
    {"no vouch", "stale"},
    {"store refused", "stale"},
}};

bool is_seldom(std::string_view row, std::string_view column) {
    return std::ranges::find(seldom, std::pair(row, column)) != seldom.end();
}

}  // namespace

Before before_of(Status status) {
    switch (status) {
        case Status::running:
            return Before::running;
        case Status::background:
            return Before::background;
        case Status::attached:
        case Status::idle:
            return Before::idle;
        case Status::detached:
            return Before::detached;
        case Status::stalled:
            return Before::stalled;
        case Status::unknown:
            return Before::unknown;
        case Status::ended:
            return Before::ended;
    }
    return Before::ended;
}

namespace {

bool is_open(Before before) {
    return before != Before::never && before != Before::ended;
}

std::string_view why_not_by_owner(Before before) {
    if (!is_open(before)) return "only open sessions have an owner";
    if (before == Before::detached) return "a parked session has no owner";
    return {};
}

std::string_view why_not_due(Before before) {
    if (!is_open(before)) return "it is over";
    return before == Before::running ? "no reset is due while a turn is on" : "";
}

}  // namespace

std::string_view why_not(Happening happening, Before before) {
    switch (happening) {
        case Happening::create:
        case Happening::create_and_close:
        case Happening::resume:
        case Happening::resume_and_close:
        case Happening::takeover:
        case Happening::append_wrong:
        case Happening::close_wrong:
        case Happening::close_any:
        case Happening::turn_wrong:
        case Happening::beat_wrong:
        case Happening::store_refused:
        case Happening::attach:
        case Happening::detach:
        case Happening::message:
        case Happening::suspended:
        case Happening::reset_by_person:
        case Happening::branched:
            return {};
        case Happening::compressed:
            return before == Before::never ? "there is nothing to sum up" : "";
        case Happening::reset_by_message:
            return is_open(before) ? "" : "it is over";
        case Happening::idle_too_long:
        case Happening::day_is_over:
            return why_not_due(before);
        case Happening::reset_deferred:
            if (before == Before::idle) return "what holds its reset shows";
            return why_not_due(before);
        case Happening::client_gone:
            return is_open(before) && before != Before::detached ? "" : "nobody is there for it";
        case Happening::detach_window_over:
            if (before == Before::detached || before == Before::stalled) return {};
            return "only a hosted session that nothing holds has a window";
        case Happening::append:
        case Happening::close:
        case Happening::turn_on:
        case Happening::turn_off:
        case Happening::beat:
            return before == Before::never ? "no generation of it is right" : "";
        case Happening::owner_exited:
        case Happening::owner_signaled:
        case Happening::owner_oom_killed:
        case Happening::owner_lost:
        case Happening::command_completed:
        case Happening::host_restarted:
        case Happening::owner_gone_parks:
        case Happening::owner_unknown:
        case Happening::owner_alive:
        case Happening::daemon_stopped:
            return why_not_by_owner(before);
        case Happening::lease_due:
            if (before == Before::stalled) return "only a process can be stalled";
            return why_not_by_owner(before);
        case Happening::lease_held:
            if (before == Before::stalled) return "only a process can be stalled";
            if (before == Before::unknown) return "a lease is held once";
            return why_not_by_owner(before);
        case Happening::stalled_due:
            if (before == Before::stalled) return "it is already";
            if (before == Before::unknown) return "stalled means provably alive";
            return why_not_by_owner(before);
        case Happening::park_window_over:
            return before == Before::detached ? "" : "only a parked session has a window";
    }
    return {};
}

std::string_view why_not(HookHappening happening, HookState before) {
    const bool is_there = before != HookState::unknown && before != HookState::absent;
    switch (happening) {
        case HookHappening::comes:
            return is_there ? "it is there" : "";
        case HookHappening::changes:
        case HookHappening::goes:
        case HookHappening::takes_it:
        case HookHappening::fails:
        case HookHappening::ends_it:
        case HookHappening::paused:
        case HookHappening::resumed:
        case HookHappening::sent_again:
            return is_there ? "" : "it is not there";
        case HookHappening::forgotten:
            return {};
        case HookHappening::forget_refused:
            return before == HookState::absent ? "" : "nothing is to be written";
        case HookHappening::unsaved_at_a_kill:
            return before == HookState::unknown ? "there is nothing to save" : "";
    }
    return {};
}

std::string_view why_not(ProcessHappening happening, ProcessBefore before) {
    const bool runs = before != ProcessBefore::never && before != ProcessBefore::gone;
    switch (happening) {
        case ProcessHappening::started:
        case ProcessHappening::left_behind:
            return before == ProcessBefore::never ? "" : "it is new";
        case ProcessHappening::registered:
            return before == ProcessBefore::gone ? "only what lives is registered" : "";
        case ProcessHappening::exited:
        case ProcessHappening::signaled:
        case ProcessHappening::oom_killed:
        case ProcessHappening::lost:
        case ProcessHappening::host_restarted:
        case ProcessHappening::session_ended:
        case ProcessHappening::adopted:
            return runs ? "" : "it does not run";
        case ProcessHappening::never_ran:
            if (before == ProcessBefore::idle || before == ProcessBefore::stale) {
                return "nobody has looked at what it does";
            }
            if (before == ProcessBefore::stopping) return "it is let go before it can be stopped";
            return runs ? "" : "it does not run";
        case ProcessHappening::works:
            if (before == ProcessBefore::working) return "it does";
            return runs ? "" : "it does not run";
        case ProcessHappening::idles:
        case ProcessHappening::goes_stale:  // again, when it is left to the next daemon
            return runs ? "" : "it does not run";
        case ProcessHappening::vouch_over:
            if (before == ProcessBefore::vouched || before == ProcessBefore::stopping) return {};
            return "nobody vouches for it";
        case ProcessHappening::vouched:
        case ProcessHappening::vouch_taken_back:
        case ProcessHappening::stop_asked:
        case ProcessHappening::store_refused:
            return {};
    }
    return {};
}

template <typename Row, typename Column, const auto& row_names, const auto& column_names>
void CoverageTable<Row, Column, row_names, column_names>::add(const CoverageTable& other) {
    for (std::size_t row = 0; row < cells_.size(); ++row) {
        for (std::size_t column = 0; column < column_names.size(); ++column) {
            cells_.at(row).at(column) += other.cells_.at(row).at(column);
        }
    }
}

template <typename Row, typename Column, const auto& row_names, const auto& column_names>
std::size_t CoverageTable<Row, Column, row_names, column_names>::missing() const {
    std::size_t missing = 0;
    for (std::size_t row = 0; row < cells_.size(); ++row) {
        for (std::size_t column = 0; column < column_names.size(); ++column) {
            const bool can_be = why_not(static_cast<Row>(row), static_cast<Column>(column)).empty();
            if (!can_be || cells_.at(row).at(column) > 0) continue;
            if (!is_seldom(row_names.at(row), column_names.at(column))) ++missing;
        }
    }
    return missing;
}

template <typename Row, typename Column, const auto& row_names, const auto& column_names>
std::string CoverageTable<Row, Column, row_names, column_names>::report() const {
    auto table = fmt::format("{:<22}", "");
    for (const auto name : column_names) table += fmt::format("{:>11}", name);
    table += '\n';
    std::string unreached;
    for (std::size_t row = 0; row < cells_.size(); ++row) {
        table += fmt::format("{:<22}", row_names.at(row));
        for (std::size_t column = 0; column < column_names.size(); ++column) {
            const auto reason = why_not(static_cast<Row>(row), static_cast<Column>(column));
            const auto times = cells_.at(row).at(column);
            if (!reason.empty() && times == 0) {
                table += fmt::format("{:>11}", "-");
                continue;
            }
            table += fmt::format("{:>11}", times);
            if (!reason.empty()) {
                unreached += fmt::format("reached, but cannot be ({}): {}, {}\n", reason,
                                         row_names.at(row), column_names.at(column));
            } else if (times == 0) {
                const bool excused = is_seldom(row_names.at(row), column_names.at(column));
                unreached += fmt::format("not reached{}: {}, {}\n", excused ? ", as seldom is" : "",
                                         row_names.at(row), column_names.at(column));
            }
        }
        table += '\n';
    }
    return table + unreached;
}

void Coverage::add(const Coverage& other) {
    sessions_.add(other.sessions_);
    hooks_.add(other.hooks_);
    processes_.add(other.processes_);
}

std::size_t Coverage::missing() const {
    return sessions_.missing() + hooks_.missing() + processes_.missing();
}

std::string Coverage::report() const {
    return sessions_.report() + '\n' + hooks_.report() + '\n' + processes_.report();
}

}  // namespace knell::sim
