#pragma once

#include <vector>

#include "core/end_path.hpp"
#include "engine/decide.hpp"

namespace knell {

/// What becomes of the background processes of a session that ends.  Where its conversation goes on
/// in another, or begins anew, that says it of those on record, whatever its `leftovers` policy is.
enum class ProcessesAtEnd : std::uint8_t {
    by_leftovers,  // as what else it leaves running
    leave,
    stop,
    hand_over,
};
struct Aftermath {
    ProcessesAtEnd processes = ProcessesAtEnd::by_leftovers;
    SessionId successor{};            // who goes on in its place; empty: nobody
    std::vector<ProcessId> spared{};  // that run on although processes are stopped
};

/// The one way a live session ends: the change, its events and what must follow.  Every path to an
/// end goes through here.  What runs on is named, is to be stopped if the session is to be left so,
/// and comes on record otherwise.  Gives the end as it is written.
/// `owner_hosts`: where that session's owner is found, which need not be open.
const End& end_session(Decision& decision, EndPath path, const LiveSession& live, End end,
                       const OwnerHosts& owner_hosts, WallTime now, const State& state,
                       Aftermath aftermath = {});

/// Whoever saw it, and by whatever clock: nothing ends before it began.
void keep_within_life(End& end, const LiveSession& live);

/// Whatever ends a parked session: how its owner went was seen before, and belongs to the evidence.
void tell_parked_owner(End& end, const LiveSession& live);

/// The events of an end, for a generation that the next one replaces in the same change.  A turn
/// that was on is over too, and says so first: the end is the last event of its generation.
void tell_end(std::vector<Event>& events, EndPath path, const LiveSession& live, const End& end,
              const OwnerHosts& owner_hosts, WallTime now);

/// Whose generation the event is about.
void tell_owner(Event& event, const Owner& owner);

/// An event about a session as its row tells it.
Event event_about(const Session& session, EventType type, WallTime time);

/// A node event; belongs to no session.
Event node_event(EventType type, std::string detail, WallTime now);

}  // namespace knell
