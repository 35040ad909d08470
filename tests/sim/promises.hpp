#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deliver/delivery_scheduler.hpp"
#include "delivery_loop.hpp"
#include "engine/state.hpp"
#include "ledger.hpp"
#include "spool.hpp"
#include "watch/watch_list.hpp"

namespace knell::sim {

class Clients;

/// When a promise can be seen to be kept or broken.
enum class Moment : std::uint8_t {
    step,      // before the ledger takes in what the step did
    settled,   // after that
    watching,  // and what follows from it was carried out
    former,    // the same, for what the daemon before this one did and could not tell
    taken_in,  // a spool file was deleted
    feeding,   // a follower is sent a line
    signal,    // the daemon signals a process
    execute,   // a background process is let go, and executes its program
    calm,      // everything that was said is decided, and nothing is due
    hearing,   // a receiver is given an event
    saved,     // the progress of subscribers is on record
    refused,   // the store refused to save that
    asked,     // the daemon was asked to forget a subscriber
    start,     // the daemon is up again
    rested,    // everything works again and a moment has passed; nobody has swept
    healed     // the end of a run: everything works and enough time has passed
};

/// All that a promise may look at.
struct Scene {
    const Host& host;
    const Ledger& ledger;
    const StepFacts& step;
    const State* state = nullptr;
    Reader* reader = nullptr;
    const WatchList* watching = nullptr;
    bool words_on_their_way = false;  // what the watch has said is not on record yet
    const DeliveryScheduler* scheduler = nullptr;
    const WatchList* watching_background = nullptr;
    std::optional<std::chrono::milliseconds> max_wait{};  // of the daemon
    const Host::Process* signalled = nullptr;
    const Host::Process* executes = nullptr;
    std::string_view subscriber;  // whose hearing it is
    const Hearing* hearing = nullptr;
    const Place* place = nullptr;
    const Asked* asked = nullptr;
    const RenderedEvent* rendered = nullptr;
    const Following* following = nullptr;
    const FeedLine* feed_line = nullptr;
    const SpooledRun* run = nullptr;
    const Spool* spool = nullptr;
    const Clients* clients = nullptr;
    std::string_view node_id;
    Seq first_kept = 0;  // the oldest event that the log still holds
};

/// A sentence on what is broken; "": nothing.
using Check = std::string (*)(const Scene&);

struct Promise {
    Moment moment;
    std::string_view name;
    Check check;
};

/// Every promise there is.  A new one is a row here.
const std::vector<Promise>& promises();

struct Broken {
    std::string_view promise;
    std::string what;
};
std::optional<Broken> find_broken(Moment moment, const Scene& scene);

// The checks, by what they are about.
std::string nudged_wrongly(const Scene& scene);  // promises_tools.cpp
std::string wrong_number(const Scene& scene);    // promises_log.cpp
std::string second_start_or_end(const Scene& scene);
std::string open_miscounted(const Scene& scene);
std::string acknowledged_but_absent(const Scene& scene);
std::string event_misnames(const Scene& scene);
std::string refused_by_a_good_disk(const Scene& scene);
std::string record_broken(const Scene& scene);
std::string key_opened_twice(const Scene& scene);  // promises_routes.cpp
std::string child_out_of_order(const Scene& scene);
std::string routed_wrongly(const Scene& scene);
std::string reset_unfounded(const Scene& scene);  // promises_resets.cpp
std::string deferred_wrongly(const Scene& scene);
std::string person_blocked_wrongly(const Scene& scene);
std::string reset_undone(const Scene& scene);
std::string deferral_untold(const Scene& scene);
std::string interaction_lost(const Scene& scene);
std::string suspension_lost(const Scene& scene);
std::string messages_of_child_lost(const Scene& scene);  // promises_messages.cpp
std::string messages_lost(const Scene& scene);
std::string messages_not_found(const Scene& scene);
std::string memory_differs(const Scene& scene);  // promises_memory.cpp
std::string memory_differs_anywhere(const Scene& scene);
std::string wrong_reply(const Scene& scene);    // promises_reply.cpp
std::string end_unfounded(const Scene& scene);  // promises_end.cpp
/// "": that reason is how the owner of that life really went.
std::string owner_is_well(Reason reason, const Life& life, const Scene& scene);
bool exited_well(const Life& life, const Scene& scene);
std::string renewal_ignored(const Scene& scene);
std::string outlived_its_lease(const Scene& scene);
std::string observed_by_nobody(const Scene& scene);
std::string crowd_reaped(const Scene& scene);
std::string dead_unnoticed(const Scene& scene);
std::string still_open(const Scene& scene);
std::string clients_miscounted(const Scene& scene);  // promises_clients.cpp
std::string attach_lost(const Scene& scene);
std::string wrongly_told(const Scene& scene);
std::string going_untold(const Scene& scene);
std::string expired_too_early(const SessionId& id, const Life& life, const Scene& scene);
std::string death_hidden(const Scene& scene);  // promises_departed.cpp
std::string bounds_false(const Scene& scene);  // promises_bounds.cpp
/// "": the owner of that life went between these.
std::string false_park(const Life& life, const LiveSession& parked, const Scene& scene);
std::string watch_differs(const Scene& scene);
std::string parked_silent(const Scene& scene);  // promises_park.cpp
std::string parked_death_hidden(const Scene& scene);
std::string signalled_wrongly(const Scene& scene);  // promises_leftovers.cpp
std::string fate_unknown(const Scene& scene);
std::string executed_off_record(const Scene& scene);  // promises_background.cpp
std::string process_forgotten(const Scene& scene);
std::string processes_misread(const Scene& scene);
std::string background_differs(const Scene& scene);
std::string vouch_unheeded(const Scene& scene);
std::string process_unwatched(const Scene& scene);
std::string exit_unnoticed(const Scene& scene);
std::string stop_unfinished(const Scene& scene);
std::string stop_left_some(const Scene& scene);
std::string wrong_process_event(const Scene& scene);  // promises_process_events.cpp
std::string exit_unfounded(const Scene& scene);
std::string process_unnamed(const Scene& scene);
std::string too_many_processes(const Scene& scene);
std::string exit_bounds_false(const Scene& scene);  // promises_bounds.cpp
std::string feed_differs(const Scene& scene);       // promises_feeds.cpp
std::string feed_silent(const Scene& scene);
std::string spooled_end_ignored(const Scene& scene);
std::string run_lost(const Scene& scene);  // promises_spool.cpp
std::string run_doubled(const Scene& scene);
std::string spool_not_empty(const Scene& scene);
std::string rendered_differs(const Scene& scene);  // promises_delivery.cpp
std::string out_of_order(const Scene& scene);
std::string heard_again(const Scene& scene);
std::string view_differs(const Scene& scene);
std::string delivered_but_kept(const Scene& scene);
std::string not_all_heard(const Scene& scene);
std::string heard_from_before(const Scene& scene);  // promises_hooks.cpp
std::string place_lost(const Scene& scene);
std::string forgotten_but_kept(const Scene& scene);
std::string record_changed(const Scene& scene);
std::string courier_differs(const Scene& scene);
std::string wrongly_forgotten(const Scene& scene);

}  // namespace knell::sim
