#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace knell::sim {

/// What may happen in a run.  The table in action.cpp says how often.
enum class Kind : std::uint8_t {
    // Time
    pass,
    pass_long,
    stall,
    suspend,
    pass_days,
    set_clock,
    // Processes
    start_process,
    start_inside,
    hide_inside,
    exit_process,
    kill_process,
    reuse_pid,
    outspeak_death,
    leave_process,
    hide_process,
    show_process,
    reboot,
    // Clients
    create,
    create_crowd,
    create_and_close,
    resume,
    takeover,
    resume_and_close,
    append,
    append_wrong,
    close,
    close_wrong,
    close_any,
    turn_on,
    turn_off,
    turn_wrong,
    label,
    beat,
    beat_wrong,
    beat_all,
    queue_up,
    spool_start,
    spool_end,
    // Clients on connections that stay open
    create_hosted,
    attach,
    detach,
    turn_by_client,
    hang_up_client,
    reload,
    name_hosted,
    // Background processes
    start_background,
    register_process,
    fork_background,
    exit_background,
    change_activity,
    stop_background,
    vouch,
    take_back_vouch,
    // Conversations
    route,
    talk,
    suspend_session,
    reset_by_person,
    branch,
    compress,
    summarise,
    change_policies,
    // Observers
    sweep,
    second_reaper,
    take_descriptors,
    give_descriptors,
    // The daemon and its disk
    crash,
    crash_loop,
    crash_halfway,
    cut_power,
    stop_daemon,
    start_daemon,
    fail_disk,
    fill_disk,
    cut_power_soon,
    slow_disk,
    heal_disk,
    // Subscribers
    set_receiver,
    long_outage,
    pause_subscriber,
    resume_subscriber,
    retry_letters,
    remove_subscriber,
    return_subscriber,
    change_subscriber,
    forget_subscriber,
    kill_unsaved,
    follow,
    reconnect_follower,
    hang_up_follower,
    hold_follower,
    slow_feeds,
    keep_few_events,
    keep_all_events,
    // Tools of agents
    report_tools,
    report_wrong,
    check_tool,
};

/// Numbers mean what they can mean when the action is taken: "which session" is modulo those there
/// are, and where nothing fits nothing happens.  So any part of a list of actions is a run as well,
/// which is what makes shrinking easy.
struct Action {
    Kind kind = Kind::pass;
    std::uint32_t which = 0;
    std::uint32_t how = 0;
    std::uint32_t fate = 0;
};

std::string_view name_of(Kind kind);

/// Everything that happens in the run of that seed.
std::vector<Action> actions_of(std::uint64_t seed);

}  // namespace knell::sim
