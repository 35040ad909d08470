// What happens to subscribers and followers.

#include <fmt/format.h>

#include "world.hpp"

namespace knell::sim {

namespace {
using namespace std::chrono_literals;
}  // namespace

bool World::perform_on_subscriber(const Action& action) {
    const auto who = action.which % delivery_.size();
    const auto mood = static_cast<Mood>(action.how % mood_names.size());
    const bool up = delivery_.is_up();
    switch (action.kind) {
        case Kind::set_receiver:
            say(fmt::format("  {} is {}", delivery_.name(who), name_in(mood_names, mood)));
            delivery_.set_mood(who, mood);
            return true;
        case Kind::long_outage:
            delivery_.set_mood(who, action.how % 2 == 0 ? Mood::failing : Mood::mute);
            for (int i = 0; i < 20 && !broken_; ++i) {
                host_.suspend(7h);
                run_for(16s);
            }
            return true;
        case Kind::pause_subscriber:
            if (up) delivery_.pause(who);
            return true;
        case Kind::resume_subscriber:
            if (up) delivery_.resume(who);
            return true;
        case Kind::retry_letters:
            // As the daemon does: only what is on record can be read back.
            if (up) pump(/*save_at_once=*/true);
            if (delivery_.is_up() && delivery_.is_clean()) delivery_.retry(who);
            return true;
        case Kind::remove_subscriber:
            delivery_.set_present(who, false);
            return true;
        case Kind::return_subscriber:
            delivery_.set_present(who, true, /*is_noticed=*/action.how % 3 != 0);
            return true;
        case Kind::change_subscriber:
            delivery_.change(who);
            return true;
        case Kind::forget_subscriber:
            if (up) forget_subscriber(who, action);
            return true;
        case Kind::kill_unsaved:
            if (up) kill_unsaved(who, action);
            return true;
        case Kind::keep_few_events:
            if (action.which % 2 == 0) {
                retention_.keep_count = action.how % 30 + 1;
            } else {
                retention_.keep_for = std::chrono::hours{action.how % 5 + 1};
            }
            return true;
        case Kind::keep_all_events:
            retention_ = {};
            return true;
        default:
            return false;
    }
}

/// Now and then it is back before that is on record, the disk is bad, or the daemon does not live.
void World::forget_subscriber(std::size_t who, const Action& action) {
    if (action.how % 3 != 0) delivery_.set_present(who, false);
    const auto asked = delivery_.forget(who);
    say(fmt::format("  {} is {}", asked.name,
                    asked.answer == DeliveryScheduler::Forgetting::forgotten     ? "forgotten"
                    : asked.answer == DeliveryScheduler::Forgetting::still_there ? "still there"
                                                                                 : "unknown"));
    auto seen = scene();
    seen.asked = &asked;
    check(Moment::asked, seen);
    if (action.fate % 3 == 0) {
        node_.break_disk(testing::FaultyDisk::Fault::io_error, 1, action.how % 4 + 1);
    }
    if (action.fate / 3 % 3 == 0) {
        delivery_.set_present(who, true, /*is_noticed=*/action.fate / 9 % 2 == 0);
    }
    if (action.fate / 18 % 5 == 0) crash_daemon();
    pump(/*save_at_once=*/true);
}

void World::kill_unsaved(std::size_t who, const Action& action) {
    if (action.how % 5 == 0) delivery_.pause(who);
    if (action.how % 5 == 1) delivery_.set_present(who, action.fate % 2 == 0);
    if (action.how % 5 == 2) delivery_.change(who);
    host_.pass(std::chrono::milliseconds{action.fate % 4000});
    delivery_.step();
    for (const auto& name : delivery_.unsaved()) {
        coverage_.count(HookHappening::unsaved_at_a_kill, delivery_.state(name));
    }
    crash_daemon();
}

bool World::perform_on_follower(const Action& action) {
    const auto who = action.which % Followers::count;
    const std::chrono::milliseconds late{action.how % 3000};
    switch (action.kind) {
        case Kind::follow:
            followers_.follow(who, /*from_now=*/action.how % 2 == 0,
                              action.fate % (ledger_.head() + 1));
            return true;
        case Kind::reconnect_follower:
            for (std::size_t i = 0; i < Followers::count; ++i) followers_.reconnect(i);
            return true;
        case Kind::hang_up_follower:
            followers_.hang_up(who);
            return true;
        case Kind::hold_follower:
            followers_.set_stuck(who, action.how % 2 == 0);
            return true;
        case Kind::slow_feeds:
            followers_.slow_down(action.fate % 2 == 0 ? late : 0ms,
                                 action.fate / 2 % 2 == 0 ? late / 2 : 0ms);
            return true;
        default:
            return false;
    }
}

}  // namespace knell::sim
