#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/memory/process_rows.hpp"
#include "store/stats.hpp"
#include "store/store.hpp"

namespace knell {

/// One start and one end for each generation: what the unique index on events is in SQL.
using Place = std::tuple<std::string, Generation, std::int64_t>;

inline Place place_in_log(const Event& event) {
    return {event.session_id.text(), event.generation, place_of(event)};
}

struct Said {
    Message message;
    WallTime at;
    std::int64_t doc = 0;  // in the order on record, of all sessions
};

/// All that a memory store holds for readers.
struct Tables {
    std::map<Ordinal, Session> sessions;
    std::unordered_map<SessionId, Ordinal> by_id;
    std::map<Ordinal, std::vector<Said>> messages;
    std::int64_t newest_doc = 0;
    ProcessRows processes;
    std::deque<Event> events;  // without holes
    std::set<Place> places;    // of those of sessions
    std::map<std::string, Subscription> subscriptions;
    std::map<std::pair<std::string, Seq>, PendingDelivery> letters;
    std::map<std::tuple<std::int64_t, Reason, Proof>, std::int64_t> ends;  // by hour
    std::map<std::pair<std::int64_t, std::string>, DayStats> counts;       // by hour and source
    std::int64_t version = 0;
};

inline Seq newest_in(const Tables& tables) {
    return tables.events.empty() ? 0 : tables.events.back().seq;
}

}  // namespace knell
