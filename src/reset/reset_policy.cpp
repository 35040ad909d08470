#include "reset/reset_policy.hpp"

namespace knell {

std::optional<WallTime> idle_due(const ResetPolicy& policy, WallTime last_interaction) {
    switch (policy.mode) {
        case ResetMode::idle:
        case ResetMode::both:
            return last_interaction + policy.idle;
        case ResetMode::none:
        case ResetMode::daily:
            break;
    }
    return std::nullopt;
}

std::optional<WallTime> daily_due(const ResetPolicy& policy, WallTime last_interaction) {
    switch (policy.mode) {
        case ResetMode::daily:
        case ResetMode::both:
            return policy.zone.next(policy.at, last_interaction);
        case ResetMode::none:
        case ResetMode::idle:
            break;
    }
    return std::nullopt;
}

std::optional<ResetDue> next_reset(const ResetPolicy& policy, WallTime last_interaction) {
    const auto idle = idle_due(policy, last_interaction);
    const auto daily = daily_due(policy, last_interaction);
    if (idle && (!daily || *idle <= *daily)) return ResetDue{*idle, ResetKind::idle};
    if (daily) return ResetDue{*daily, ResetKind::daily};
    return std::nullopt;
}

}  // namespace knell
