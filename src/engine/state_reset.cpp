// When conversations are reset, and when somebody last said something in them.

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "engine/state.hpp"

namespace knell {

namespace {

/// Sessions that follow a change of the policies in one step.
constexpr Slot followed_at_once = 4096;

/// What was said during a stall is heard within that time, which passes only while the daemon
/// looks.
constexpr std::chrono::milliseconds stall_forgiven_for{1500};

}  // namespace

// --- stalls -------------------------------------------------------------------------------------

void State::forgive_stall() {
    // One that follows within that time adds nothing: else a slow disk would put resets off for
    // ever.
    if (!has_begun_ || (stall_ && is_forgiven(*stall_))) return;
    stall_ = Stall{.unset = unset_now(),
                   .wall = now_.wall,
                   .forgiven_until = now_.steady + stall_forgiven_for};
}

WallTime State::resets_until_unset() const {
    return stall_ && is_forgiven(*stall_) ? std::min(stall_->unset, unset_now()) : unset_now();
}

WallTime State::resets_until_wall() const {
    return stall_ && is_forgiven(*stall_) ? std::min(stall_->wall, now_.wall) : now_.wall;
}

// --- policies -----------------------------------------------------------------------------------

void State::set_reset_policies(std::shared_ptr<const ResetPolicies> policies) {
    CHECK(policies != nullptr);
    knows_policies_ = true;
    if (policies == policies_) return;
    if (*policies == *policies_) {
        policies_ = std::move(policies);
        return;
    }
    policies_ = std::move(policies);
    policies_followed_ = 0;
    policies_to_follow_ = table_.slots();
}

void State::follow_policies() {
    const auto last = std::min(policies_to_follow_, policies_followed_ + followed_at_once);
    for (; policies_followed_ < last; ++policies_followed_) {
        if (!table_.holds(policies_followed_)) continue;
        schedule_reset(policies_followed_);
        // Whatever holds it may do so no longer by the policy, or by the clock, that there is now.
        look_at_reset_again(policies_followed_);
    }
}

const ResetPolicy& State::policy_of(const LiveSession& live) const {
    return policies_->of({.source = live.source(),
                          .platform = live.platform(),
                          .chat_type = live.chat_type(),
                          .key = live.key()});
}

std::optional<ResetKind> State::reset_due(const LiveSession& live) const {
    if (live.key().empty() || live.turn_since()) return std::nullopt;
    return reset_due(policy_of(live), live.interaction());
}

std::optional<ResetKind> State::reset_due(const ResetPolicy& policy, WallTime interaction) const {
    const auto idle = idle_due(policy, interaction);
    const auto daily = daily_due(policy, interaction + clock_set_);
    const bool is_idle = idle && *idle <= resets_until_unset();
    const bool is_daily = daily && *daily <= resets_until_wall();
    if (is_idle && is_daily) {
        return *idle + clock_set_ <= *daily ? ResetKind::idle : ResetKind::daily;
    }
    if (is_idle) return ResetKind::idle;
    if (is_daily) return ResetKind::daily;
    return std::nullopt;
}

void State::schedule_reset(Slot slot) {
    const auto& live = table_.at(slot);
    idle_due_.cancel(slot);
    daily_due_.cancel(slot);
    if (live.key().empty() || live.turn_since()) return;
    if (live.reset_held_since()) {
        daily_due_.schedule(slot, live.reset_look_again_at().value_or(resets_until_wall()));
        return;
    }
    const auto& policy = policy_of(live);
    if (const auto idle = idle_due(policy, live.interaction())) idle_due_.schedule(slot, *idle);
    if (const auto daily = daily_due(policy, live.interaction() + clock_set_)) {
        daily_due_.schedule(slot, *daily);
    }
}

void State::look_at_reset_again(const SessionId& id) {
    const auto slot = table_.find(id.text());
    if (slot != LiveTable::none) look_at_reset_again(slot);
}

void State::look_at_reset_again(Slot slot) {
    if (table_.at(slot).reset_held_since()) daily_due_.schedule(slot, resets_until_wall());
}

std::optional<Slot> State::next_reset_due() {
    if (resets_wait_ || !knows_policies_) return std::nullopt;
    for (;;) {
        auto slot = idle_due_.due(resets_until_unset());
        if (!slot) slot = daily_due_.due(resets_until_wall());
        if (!slot) return std::nullopt;
        const auto& live = table_.at(*slot);
        // What was seen of its owner ends it, or parks it: then its reset is scheduled anew.
        const auto* owner = owner_of(live);
        if (owner != nullptr && (owner->leaving || owner->gone)) {
            idle_due_.cancel(*slot);
            daily_due_.cancel(*slot);
            continue;
        }
        // What is held is looked at again, and let go of when it is not due any more.
        if (live.reset_held_since() || reset_due(live)) return slot;
        schedule_reset(*slot);
    }
}

std::optional<WallTime> State::next_wall_deadline() const {
    auto first = processes_.next_vouch_end();
    const auto add = [&first](std::optional<WallTime> due) {
        if (due) first = std::min(first.value_or(*due), *due);
    };
    add(daily_due_.next());
    if (const auto idle = idle_due_.next()) add(*idle + clock_set_);
    return first;
}

// --- interactions -------------------------------------------------------------------------------

void State::note_interaction(LiveSession& live) {
    live.set_interaction(std::max(live.interaction(), heard_at() - clock_set_), /*unsaved=*/false);
}

void State::interact(const SessionId& id) {
    const auto slot = table_.find(id.text());
    CHECK(slot != LiveTable::none);
    auto& live = table_.at(slot);
    const bool was_unsaved = live.is_interaction_unsaved();
    believe_clock(live);
    note_interaction(live);
    live.set_interaction(live.interaction(), /*unsaved=*/true);
    if (!was_unsaved) interactions_unsaved_.push_back({slot, live.ordinal()});
}

std::optional<Slot> State::next_interaction_unsaved() {
    while (!interactions_unsaved_.empty()) {
        const auto [slot, ordinal] = interactions_unsaved_.front();
        interactions_unsaved_.pop_front();
        const auto& live = table_.at(slot);
        if (live.ordinal() == ordinal && live.is_interaction_unsaved()) return slot;
    }
    return std::nullopt;
}

}  // namespace knell
