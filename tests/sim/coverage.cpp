#include "coverage.hpp"

#include <fmt/format.h>

namespace knell::sim {

Before before_of(Status status) {
    switch (status) {
        case Status::running:
            return Before::running;
        case Status::attached:
        case Status::background:
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
            return {};
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

void Coverage::add(const Coverage& other) {
    for (std::size_t row = 0; row < cells_.size(); ++row) {
        for (std::size_t column = 0; column < before_names.size(); ++column) {
            cells_.at(row).at(column) += other.cells_.at(row).at(column);
        }
    }
}

std::size_t Coverage::missing() const {
    std::size_t missing = 0;
    for (std::size_t row = 0; row < cells_.size(); ++row) {
        for (std::size_t column = 0; column < before_names.size(); ++column) {
            const bool can_be =
                why_not(static_cast<Happening>(row), static_cast<Before>(column)).empty();
            if (can_be && cells_.at(row).at(column) == 0) ++missing;
        }
    }
    return missing;
}

std::string Coverage::report() const {
    auto table = fmt::format("{:<20}", "");
    for (const auto name : before_names) table += fmt::format("{:>11}", name);
    table += '\n';
    std::string unreached;
    for (std::size_t row = 0; row < cells_.size(); ++row) {
        table += fmt::format("{:<20}", happening_names.at(row));
        for (std::size_t column = 0; column < before_names.size(); ++column) {
            const auto reason = why_not(static_cast<Happening>(row), static_cast<Before>(column));
            const auto times = cells_.at(row).at(column);
            if (!reason.empty() && times == 0) {
                table += fmt::format("{:>11}", "-");
                continue;
            }
            table += fmt::format("{:>11}", times);
            if (!reason.empty()) {
                unreached += fmt::format("reached, but cannot be ({}): {}, {}\n", reason,
                                         happening_names.at(row), before_names.at(column));
            } else if (times == 0) {
                unreached += fmt::format("not reached: {}, {}\n", happening_names.at(row),
                                         before_names.at(column));
            }
        }
        table += '\n';
    }
    return table + unreached;
}

}  // namespace knell::sim
