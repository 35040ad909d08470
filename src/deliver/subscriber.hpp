#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"
#include "core/event_filter.hpp"
#include "deliver/rendered_event.hpp"
#include "store/delivery.hpp"
#include "store/store.hpp"

namespace knell {

/// What one subscriber is to be given, and when: at least once, in order for each session.
///
/// The events of a session wait in a queue behind each other; queues do not wait for each other, so
/// an event that cannot be delivered holds up its own session and nobody else's.  What failed, and
/// what waits behind it, is kept in the store as letters: the cursor moves on past it, and after a
/// crash nothing is delivered twice but what was under way or delivered since the last save.
///
/// An event that it has taken is in one of these states; the first of a queue may be under way too:
///
///   read   in its queue and in no store: the cursor stays below it
///   kept   in its queue and a letter in the store: the cursor passes it
///   dead   given up: a letter in the store, in no queue
///
///   offer         ─▶ read; kept, behind one that is
///   restore       ─▶ kept or dead, as its letter says
///   next_attempt  the first of a queue is under way, until
///   finish        delivered ─▶ gone; failed ─▶ kept, and all behind it; after three days, or as
///                 many tries as it has, ─▶ dead
///   revive        dead ─▶ kept
///
/// It is active, paused by a person, or disabled because its receiver is gone for good; only an
/// active one takes events and tries them, and `resume` makes it active from either.
///
/// Pure bookkeeping: time, the log and the outcomes are handed in; `take_changes` is what must be
/// saved.
class Subscriber {
  public:
    /// `retries`: of one event; none: for as long as `give_up_after`.
    Subscriber(Subscription subscription, EventFilter filter, std::size_t concurrency,
               std::optional<int> retries = std::nullopt);

    const Subscription& subscription() const { return row_; }
    const EventFilter& filter() const { return filter_; }
    /// Its file was changed.
    void set_spec(const EventFilter& filter, std::size_t concurrency,
                  std::optional<int> retries = std::nullopt);
    /// A letter of the store, after a restart.
    void restore(PendingDelivery letter, Now now);
    /// A dead letter that a person sends again: it has all the time of a new one.
    bool revive(PendingDelivery letter, Now now);
    /// What `restore` takes, were it to be put away now.  Of the dead only the number.
    std::vector<PendingDelivery> letters(Now now) const;

    // --- reading the log ---------------------------------------------------------------------

    bool has_room() const;
    Seq read_to() const { return read_to_; }
    /// Kept before a restart although the cursor had not come to it: not to be taken from the log.
    bool is_restored(Seq seq) const { return restored_.contains(seq); }
    /// The next event of the log that is wanted; false when there is no room for it.
    bool offer(const RenderedEventRef& rendered, Now now);
    /// The log was looked at up to here.
    void passed(Seq seq);
    /// `gap` is gone from the log; `rendered` tells the subscriber.
    void lose(const Gap& gap, const RenderedEventRef& rendered, Now now);

    // --- trying ------------------------------------------------------------------------------

    /// What to try now, which is under way from then on; nullptr: nothing.
    RenderedEventRef next_attempt(Now now);
    /// When there will be something to try, were nothing to happen until then.
    std::optional<SteadyTime> next_try() const;
    /// What became of it.  Gives true when it was given up.
    bool finish(Seq seq, const Outcome& outcome, Now now);
    std::size_t under_way() const { return tried_.size(); }

    // --- what a person may do ----------------------------------------------------------------

    void pause();
    void resume(Now now);
    /// All that waits is due at once.
    void retry_now(Now now);

    std::size_t waiting() const { return kept_; }
    std::size_t dead() const { return dead_.size(); }
    int failing_streak() const { return streak_; }
    /// How long an event that fails is tried: "three days", "1 attempt".
    std::string patience() const;

    bool has_changes() const { return row_changed_ || !changes_.empty(); }
    /// Of these, letters: what failed is on record as soon as may be.
    bool has_letters() const { return !changes_.empty(); }
    std::vector<DeliveryChange> take_changes();
    /// For tests: every number and set agrees with the queues.
    void check_invariants() const;

  private:
    struct Item {
        RenderedEventRef rendered;
        Seq first = 0;  // of what it tells: a gap stands for many events
        int attempts = 0;
        std::chrono::milliseconds waited{0};
        SteadyTime not_before;
        std::string last_error;
        bool kept = false;  // a letter in the store
    };
    using SessionQueue = std::deque<Item>;  // by number; the first is the one to try

    bool offer(const RenderedEventRef& rendered, Seq first, Now now);
    void add(Item&& item);
    void keep(Item& item, Now now);
    /// The first of a queue becomes what is tried next of it, or the queue is done.
    void make_ready(const std::string& queue);
    bool fail_item(SessionQueue& queue, const Outcome& outcome, Now now);
    void give_up(Item&& item, Now now);
    PendingDelivery letter_of(const Item& item, PendingState state, Now now) const;
    void update_cursor();

    EventFilter filter_;
    std::size_t concurrency_;
    std::optional<int> retries_;
    Subscription row_;
    Seq read_to_ = 0;

    std::unordered_map<std::string, SessionQueue> by_session_;
    std::set<std::tuple<SteadyTime, Seq, std::string>> ready_;  // first of each idle queue
    std::map<Seq, std::string> tried_;                          // under way: number to queue
    std::set<Seq> unkept_;  // read, neither delivered nor kept: the cursor stays below
    std::set<Seq> dead_;
    std::set<Seq> restored_;  // letters beyond the cursor: the log is read again from there
    std::size_t kept_ = 0;    // waiting letters
    int streak_ = 0;          // failures since the last success

    bool row_changed_ = false;
    std::vector<DeliveryChange> changes_;
};

}  // namespace knell
