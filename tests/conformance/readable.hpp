#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/store.hpp"

namespace knell::testing {

/// Everything that can be read out of a store: what two stores with the same history have in
/// common, and what a refused batch must leave as it was.
struct Readable {
    std::vector<Session> sessions;          // newest first
    std::vector<Session> found;             // the same, asked for by id
    std::map<std::string, Session> by_key;  // the newest of each
    /// The newest that came out of each in that way.
    std::map<std::pair<std::string, Relation>, Session> children;
    std::vector<Session> open;
    std::vector<Session> unsettled;
    std::map<std::string, std::vector<Message>> messages;  // by session id
    std::vector<ProcessOnRecord> processes;                // newest first
    std::vector<ProcessOnRecord> processes_found;          // the newest of each id
    std::vector<BackgroundProcess> running;
    std::vector<Event> events;
    Heads heads;
    EndCounts ends;
    std::int64_t leaked = 0;
    std::vector<Subscription> subscriptions;
    std::vector<PendingDelivery> letters;

    bool operator==(const Readable&) const = default;
};

/// Fails the test when something cannot be read.
Readable read_all(Store& store);

/// The parts that differ, by name; "" when there are none.
std::string difference(const Readable& one, const Readable& other);

}  // namespace knell::testing
