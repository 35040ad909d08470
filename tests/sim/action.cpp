#include "action.hpp"

#include <algorithm>
#include <array>
#include <random>

namespace knell::sim {

namespace {

struct Row {
    Kind kind;
    std::string_view name;
    std::uint32_t weight;
};

constexpr std::array<Row, 96> table{{
    {Kind::pass, "time passes", 30},
    {Kind::pass_long, "much time passes", 10},
    {Kind::stall, "the daemon stalls", 3},
    {Kind::suspend, "the host sleeps", 3},
    {Kind::pass_days, "the host sleeps for a day or two", 2},
    {Kind::set_clock, "the clock is set", 2},
    {Kind::start_process, "a process starts", 10},
    {Kind::start_inside, "a process starts in another pid namespace", 2},
    {Kind::hide_inside, "the other pid namespace is hidden, or shown", 2},
    {Kind::exit_process, "a process exits", 9},
    {Kind::kill_process, "a process is killed", 4},
    {Kind::reuse_pid, "a pid is used again", 3},
    {Kind::outspeak_death, "somebody speaks while a command's end is being told", 5},
    {Kind::leave_process, "a command starts a process", 12},
    {Kind::hide_process, "a process cannot be read", 4},
    {Kind::show_process, "processes can be read again", 2},
    {Kind::reboot, "the host restarts", 1},
    {Kind::create, "create", 16},
    {Kind::create_crowd, "create a crowd of leases", 1},
    {Kind::create_and_close, "create and close (spooled)", 9},
    {Kind::resume, "resume", 6},
    {Kind::takeover, "takeover", 5},
    {Kind::resume_and_close, "resume and close (spooled)", 3},
    {Kind::append, "append", 8},
    {Kind::append_wrong, "append under a wrong generation", 4},
    {Kind::close, "close", 5},
    {Kind::close_wrong, "close under a wrong generation", 4},
    {Kind::close_any, "close whatever is open", 6},
    {Kind::turn_on, "turn on", 16},
    {Kind::turn_off, "turn off", 3},
    {Kind::turn_wrong, "turn under a wrong generation", 3},
    {Kind::label, "a person writes on a session", 5},
    {Kind::beat, "beat", 8},
    {Kind::beat_wrong, "beat under a wrong generation", 4},
    {Kind::beat_all, "all beat", 4},
    {Kind::queue_up, "many call at once", 3},
    {Kind::spool_start, "a command begins and no daemon is reached", 5},
    {Kind::spool_end, "a command ends and no daemon is reached", 6},
    {Kind::create_hosted, "create a hosted session", 8},
    {Kind::attach, "a client attaches", 14},
    {Kind::detach, "a client detaches", 5},
    {Kind::turn_by_client, "a client begins a turn", 6},
    {Kind::hang_up_client, "a client's connection is cut", 7},
    {Kind::reload, "a client loads its page anew, over and over", 3},
    {Kind::name_hosted, "a read names a session", 3},
    {Kind::start_background, "a background process is started", 16},
    {Kind::register_process, "a background process is registered", 6},
    {Kind::fork_background, "a background process starts another", 5},
    {Kind::exit_background, "a background process ends", 8},
    {Kind::change_activity, "a background process does something else", 12},
    {Kind::stop_background, "a background process is to be stopped", 6},
    {Kind::vouch, "somebody vouches for a background process", 7},
    {Kind::take_back_vouch, "nobody vouches for a background process any more", 2},
    {Kind::route, "a message comes for a key", 20},
    {Kind::talk, "something is said to the session of a key", 10},
    {Kind::suspend_session, "a session is suspended", 4},
    {Kind::reset_by_person, "a person wants a new conversation", 5},
    {Kind::branch, "a person branches a session", 4},
    {Kind::compress, "a session is to be compressed", 6},
    {Kind::summarise, "a summary is there, or none can be made", 8},
    {Kind::change_policies, "the reset policies are changed", 4},
    {Kind::sweep, "sweep", 3},
    {Kind::second_reaper, "a second reaper speaks", 4},
    {Kind::take_descriptors, "descriptors run out", 4},
    {Kind::give_descriptors, "there are descriptors again", 3},
    {Kind::crash, "the daemon is killed", 3},
    {Kind::crash_loop, "the daemon is killed over and over", 1},
    {Kind::crash_halfway, "the daemon will be killed after a commit", 3},
    {Kind::cut_power, "the power is cut", 1},
    {Kind::stop_daemon, "the daemon is stopped", 6},
    {Kind::start_daemon, "the daemon is started", 10},
    {Kind::fail_disk, "the disk will fail", 4},
    {Kind::fill_disk, "the disk will be full", 2},
    {Kind::cut_power_soon, "the power will be cut", 2},
    {Kind::slow_disk, "the disk is slow", 2},
    {Kind::heal_disk, "the disk is well", 5},
    {Kind::set_receiver, "a receiver changes", 6},
    {Kind::long_outage, "a receiver is away for days", 1},
    {Kind::pause_subscriber, "a subscriber is paused", 2},
    {Kind::resume_subscriber, "a subscriber is resumed", 3},
    {Kind::retry_letters, "letters are sent again", 2},
    {Kind::remove_subscriber, "a subscriber is removed", 2},
    {Kind::return_subscriber, "a subscriber is put back", 3},
    {Kind::change_subscriber, "a subscriber's file is changed", 2},
    {Kind::forget_subscriber, "a subscriber is to be forgotten", 4},
    {Kind::kill_unsaved, "the daemon is killed before it saves what was heard", 2},
    {Kind::follow, "somebody follows the log", 4},
    {Kind::reconnect_follower, "followers connect again", 5},
    {Kind::hang_up_follower, "a follower hangs up", 2},
    {Kind::hold_follower, "a follower stops reading, or goes on", 4},
    {Kind::slow_feeds, "the threads that feed are slow, or not", 3},
    {Kind::keep_few_events, "few events are kept", 2},
    {Kind::keep_all_events, "all events are kept", 1},
    // Not drawn with the others, see add_tools.
    {Kind::report_tools, "an agent reports calls of its tools", 0},
    {Kind::report_wrong, "calls are reported under a wrong generation", 0},
    {Kind::check_tool, "an agent asks whether it may call a tool", 0},
}};

constexpr std::size_t actions_min = 30;
constexpr std::size_t actions_more = 120;

Action any_action(Kind kind, std::mt19937_64& random) {
    return {kind, static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random()),
            static_cast<std::uint32_t>(random())};
}

/// Agents call tools beside whatever else happens, in every second run; with dice of their own, so
/// that all else is what it would be without them.
void add_tools(std::vector<Action>& actions, std::uint64_t seed) {
    std::mt19937_64 random(seed ^ 0x7001'5000'0000'0000U);
    if (random() % 2 == 0) return;
    std::vector<Action> all;
    all.reserve(2 * actions.size());
    for (const auto& action : actions) {
        all.push_back(action);
        while (random() % 3 == 0) {
            const auto draw = random() % 8;
            all.push_back(any_action(draw < 4   ? Kind::report_tools
                                     : draw < 5 ? Kind::report_wrong
                                                : Kind::check_tool,
                                     random));
        }
    }
    actions = std::move(all);
}

}  // namespace

std::string_view name_of(Kind kind) {
    return table.at(static_cast<std::size_t>(kind)).name;
}

std::vector<Action> actions_of(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    // Each run has its own mood: some things happen often in it, others never.
    std::array<std::uint32_t, table.size()> weights{};
    std::uint32_t total = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (table[i].weight == 0) continue;
        constexpr std::array<std::uint32_t, 5> moods{0, 1, 2, 2, 6};
        weights[i] = table[i].weight * moods[random() % moods.size()];
        total += weights[i];
    }
    std::vector<Action> actions(actions_min + random() % actions_more);
    for (auto& action : actions) {
        auto draw = static_cast<std::uint32_t>(random() % std::max(total, 1U));
        std::size_t i = 0;
        while (i + 1 < table.size() && draw >= weights[i]) draw -= weights[i++];
        action = {table[i].kind, static_cast<std::uint32_t>(random()),
                  static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
    }
    add_tools(actions, seed);
    return actions;
}

}  // namespace knell::sim
