#include "reset_truth.hpp"

#include <algorithm>

namespace knell::sim {

namespace {

using namespace std::chrono_literals;

/// How the clocks on the wall stood that a daemon may go by.
struct Clocks {
    Host::Ahead least;
    Host::Ahead most;
    std::chrono::milliseconds tolerance;
};

/// One daemon knows how the clock was set while it looked, and goes by the one there is now.
Clocks clocks_for(const Conversation& one, const Scene& scene) {
    const auto now = scene.host.elapsed();
    const auto all = scene.host.clocks_between(Host::Duration{0}, now);
    // A set by less than a second is taken for drift.
    const auto tolerance =
        5ms + std::chrono::milliseconds{1100} * static_cast<std::int64_t>(all.size() - 1);
    const auto& starts = scene.ledger.started_at();
    // What was said before it was opened again is read from its record, by the clock of then.
    const bool is_from_record = one.is_reopened && one.said_surely <= one.opened_at;
    const bool is_one_daemon =
        one.open && !is_from_record && !starts.empty() && starts.back() < one.said_surely;
    if (is_one_daemon) return {all.back(), all.back(), tolerance};
    return {std::ranges::min(all), std::ranges::max(all), tolerance};
}

/// The moments at which steps were decided, or now.
Host::Duration latest(const Scene& scene) {
    const auto& decided = scene.step.decided_at;
    return decided.empty() ? scene.host.elapsed() : std::ranges::max(decided);
}
Host::Duration earliest(const Scene& scene) {
    const auto& decided = scene.step.decided_at;
    return decided.empty() ? scene.host.elapsed() : std::ranges::min(decided);
}

bool resets(const ResetPolicy& policy, ResetKind kind) {
    const auto alone = kind == ResetKind::idle ? ResetMode::idle : ResetMode::daily;
    return policy.mode == alone || policy.mode == ResetMode::both;
}

/// Days whose hour has come by then, in UTC.
std::int64_t days_by(WallTime time, std::chrono::minutes at) {
    return std::chrono::floor<std::chrono::days>(time.time_since_epoch() - at).count();
}

bool is_idle_over(const ResetPolicy& policy, Host::Duration silent) {
    return resets(policy, ResetKind::idle) && silent >= policy.idle;
}

bool is_day_over(const ResetPolicy& policy, WallTime said, WallTime now) {
    return resets(policy, ResetKind::daily) && days_by(said, policy.at) < days_by(now, policy.at);
}

/// What it was doing may be known anew, or it may have gone or come, in this very step.
bool is_touched(const std::string& id, const Scene& scene) {
    for (const auto& said : scene.step.said) {
        if (const auto* active = as<ProcessActive>(said.input);
            active && active->process_id.text() == id) {
            return true;
        }
        if (const auto* vouch = as<VouchProcess>(said.input);
            vouch && vouch->process_id.text() == id) {
            return true;
        }
    }
    return std::ranges::any_of(scene.step.told, [&](const Event& event) {
        return event.process && event.process->id.text() == id;
    });
}

}  // namespace

bool may_be_due(const Conversation& one, std::optional<ResetKind> kind, const Scene& scene) {
    if (one.key.empty()) return false;
    const auto clocks = clocks_for(one, scene);
    const auto now = latest(scene);
    const auto spread = clocks.most - clocks.least + clocks.tolerance;
    for (const auto& policy : scene.ledger.conversations.policies_of(one, scene.step.by_former)) {
        const bool is_idle = is_idle_over(policy, now - one.said_surely + spread);
        const bool is_daily =
            is_day_over(policy, Host::shown_at(one.said_surely, clocks.least) - clocks.tolerance,
                        Host::shown_at(now, clocks.most) + clocks.tolerance);
        if (is_idle && kind != ResetKind::daily) return true;
        if (is_daily && kind != ResetKind::idle) return true;
    }
    return false;
}

bool must_be_due(const Conversation& one, const Scene& scene) {
    if (one.key.empty()) return false;
    const auto clocks = clocks_for(one, scene);
    const auto now = scene.ledger.heard_surely_until(earliest(scene));
    const auto spread = clocks.most - clocks.least + clocks.tolerance;
    const auto policies = scene.ledger.conversations.policies_of(one, scene.step.by_former);
    return std::ranges::all_of(policies, [&](const ResetPolicy& policy) {
        return is_idle_over(policy, now - one.said_at_most - spread) ||
               is_day_over(policy, Host::shown_at(one.said_at_most, clocks.most) + clocks.tolerance,
                           Host::shown_at(now, clocks.least) - clocks.tolerance);
    });
}

Belief holds(const std::string& id, const KnownProcess& process, const Conversation& one, Asks who,
             const Scene& scene) {
    if (!process.running) return Belief::no;
    const bool is_vouched = process.vouched_until && *process.vouched_until;
    const bool may_be_vouched = !process.vouched_until || is_vouched;
    const bool works = process.activity == ProcessActivity::working;
    const bool may_work = !process.activity || works;
    if (is_touched(id, scene)) return Belief::maybe;
    if (!may_work && !may_be_vouched) return Belief::no;
    const auto now = scene.host.elapsed();
    // Its age, and whether its vouch is over, are by its own clock.
    const bool is_clock_set = scene.host.clocks_between(Host::Duration{0}, now).size() > 1;
    const bool surely_vouched = is_vouched && !process.may_be_over;
    if (who == Asks::person) return works || surely_vouched ? Belief::yes : Belief::maybe;
    if (is_clock_set || process.origin == ProcessOrigin::leftover) return Belief::maybe;
    if (surely_vouched) {
        const auto left = **process.vouched_until - Host::shown_at(latest(scene), {});
        return left > 1s ? Belief::yes : Belief::maybe;
    }
    const auto policies = scene.ledger.conversations.policies_of(one, scene.step.by_former);
    const auto age = Host::shown_at(latest(scene), {}) - process.opened_wall;
    const bool is_young = std::ranges::all_of(
        policies, [&](const ResetPolicy& policy) { return age + 5s < policy.process_max_age; });
    const bool is_old = std::ranges::all_of(
        policies, [&](const ResetPolicy& policy) { return age - 5s > policy.process_max_age; });
    if (is_old && !may_be_vouched) return Belief::no;
    return works && is_young ? Belief::yes : Belief::maybe;
}

std::string walk(const Scene& scene,
                 const std::function<std::string(const Event&, const Conversations&)>& judge) {
    const auto matters = [](const Event& event) {
        return event.type == EventType::session_start || event.type == EventType::session_end ||
               event.type == EventType::session_reset_deferred;
    };
    if (std::ranges::none_of(scene.step.told, matters)) return {};
    auto known = scene.ledger.conversations;
    for (const auto& event : scene.step.told) {
        if (auto what = judge(event, known); !what.empty()) return what;
        known.note_event(event, scene.step);
    }
    return {};
}

}  // namespace knell::sim
