// What happens to subscribers and followers.

#include <fmt/format.h>

#include "world.hpp"

namespace knell::sim {

namespace {
using namespace std::chrono_literals;
}  // namespace

bool World::perform_on_subscriber(const Action& action) {
    const auto who = action.which % postbox_.size();
    const auto mood = static_cast<Mood>(action.how % mood_names.size());
    const bool up = postbox_.is_up();
    switch (action.kind) {
        case Kind::set_receiver:
            say(fmt::format("  {} is {}", postbox_.name(who), name_in(mood_names, mood)));
            postbox_.set_mood(who, mood);
            return true;
        case Kind::long_outage:
            postbox_.set_mood(who, action.how % 2 == 0 ? Mood::failing : Mood::mute);
            for (int i = 0; i < 20 && !broken_; ++i) {
                host_.suspend(7h);
                run_for(16s);
            }
            return true;
        case Kind::pause_subscriber:
            if (up) postbox_.pause(who);
            return true;
        case Kind::resume_subscriber:
            if (up) postbox_.resume(who);
            return true;
        case Kind::retry_letters:
            // As the daemon does: only what is on record can be read back.
            if (up) pump(/*save_at_once=*/true);
            if (postbox_.is_up() && postbox_.is_clean()) postbox_.retry(who);
            return true;
        case Kind::remove_subscriber:
            postbox_.set_present(who, false);
            return true;
        case Kind::return_subscriber:
            postbox_.set_present(who, true);
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
