#pragma once

#include <map>
#include <set>
#include <vector>

#include "core/event_filter.hpp"
#include "core/rendered_event.hpp"
#include "store/store.hpp"

namespace knell::sim {

/// What a delivery tells that is about no event.
Gap gap_in(const RenderedEvent& rendered);

/// What is on record of a subscriber.
struct Place {
    bool has_row = false;
    Seq cursor = 0;
    std::set<Seq> letters;  // waiting or dead
    std::vector<Gap> gap_letters;

    bool operator==(const Place&) const = default;
    bool has_letter(Seq seq) const;
    /// Any of its letters tells of something up to here.
    bool has_letter_until(Seq seq) const;
};

/// What one subscriber has heard, from the day it came to the day it is forgotten.
struct Hearing {
    /// What it wants.  From the second on: since the log ended at `from`.
    struct Wish {
        Seq from = 0;
        EventFilter filter;
    };
    std::vector<Wish> wishes;
    bool has_come = false;
    Seq since = 0;         // what comes after this is meant for it
    Seq forgotten_at = 0;  // where the log ended when one of its name was forgotten; 0: never
    struct Given {
        bool delivered = false;   // and the daemon knows
        bool may_repeat = false;  // the daemon may have forgotten that
    };
    std::map<Seq, Given> deliveries;
    std::vector<Gap> gaps;  // told
    std::set<Seq> dead;     // given up
    Place place;            // on record
    bool had_place = false;
    Seq checked_to = 0;  // by the promise about its view

    void wish(Seq head, const EventFilter& filter);
    /// Whichever of its wishes the daemon had read when it came to that event.
    bool must_hear(const Event& event) const;
    /// By one of them at least.
    bool may_hear(const Event& event) const;
    bool was_told_lost(Seq seq) const;
    bool has_been_given(Seq seq) const;  // delivered, or told that it is lost
    /// The daemon may have forgotten what it delivered.
    void may_be_repeated();
    /// What is on record can be of this one: it is neither from before its time nor from after.
    bool can_have(const Place& place) const;
};

/// One that the daemon was told to forget, until that is on record.
struct Forgotten {
    Hearing former;
    bool is_handed_on = false;  // to the store, which may have written it
};

}  // namespace knell::sim
