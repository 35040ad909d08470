#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/event_filter.hpp"
#include "deliver/subscriber.hpp"

namespace knell {

/// Who wants to hear what.
struct SubscriberSpec {
    std::string name;
    EventFilter events;
    std::size_t concurrency = 1;
    std::optional<int> retries{};  // of one event; none: for three days
};

/// What a person may know of a subscriber.
struct SubscriberReport {
    Subscription subscription;
    bool absent = false;   // on record, but neither in the config nor a directory
    bool failing = false;  // its last attempt failed
    std::int64_t lag = 0;
    std::size_t waiting = 0;
    std::size_t dead = 0;
    std::size_t under_way = 0;
    std::optional<std::chrono::milliseconds> next_try_in;
};

/// Brings the log to every subscriber: reads it, says whom to try with what, and keeps what is to
/// be saved.  Makes no attempt itself and waits for nothing; the daemon's delivery thread and the
/// simulator both drive it.
///
/// A name is in one of these states, or not known:
///
///   present    in the config or a directory: has a Subscriber
///   absent     on record alone: its cursor and its letters are put away
///   forgotten  no longer on record, until it is back
///
///   recover          ─▶ absent
///   set_subscribers  ─▶ present; present, but no longer named ─▶ absent
///   forget           absent ─▶ forgotten
///
/// `recover` comes first, once.  Each attempt that `due` gives is ended by `finish`, or by a
/// `set_subscribers` that names it; then `finish` does nothing.
class DeliveryScheduler {
  public:
    /// `head`: the newest event when this daemon started.
    DeliveryScheduler(std::string node_id, Seq head) : node_id_(std::move(node_id)), head_(head) {}

    /// What is on record of all subscribers.
    Result<void> recover(Reader& reader);

    /// Who is there now.  One that is new to the record hears what comes after `from` (default:
    /// after this moment); one that was known goes on where it was.  Gives the attempts of those
    /// who left: nobody waits for their outcome.
    std::vector<AttemptId> set_subscribers(const std::vector<SubscriberSpec>& specs, Now now,
                                           std::optional<Seq> from = {});

    /// There are events up to here.
    void set_head(Seq head) { head_ = std::max(head_, head); }
    /// Hands out a page of the log to each subscriber that is behind and has room.
    Result<void> read(Reader& reader, Now now);
    /// Somebody is behind and has room: `read` again.
    bool is_behind() const;

    struct Attempt {
        AttemptId id = 0;
        std::string subscriber;
        RenderedEventRef rendered;
    };
    /// What to try now.
    std::vector<Attempt> due(Now now);
    std::optional<SteadyTime> next_try() const;
    void finish(AttemptId attempt, const Outcome& outcome, Now now);

    /// What a person may do; false: nobody has that name.
    bool pause(const std::string& name);
    bool resume(const std::string& name, Now now);
    enum class Forgetting : std::uint8_t { forgotten, still_there, unknown };
    /// Drops the cursor and the letters of one that is absent; any other stays as it is.  Who comes
    /// under that name later is new, and hears nothing from before.
    Forgetting forget(const std::string& name);
    /// All that waits is due now, and what was given up is tried again.
    Result<std::size_t> retry(const std::string& name, Reader& reader, Now now);

    bool knows(const std::string& name) const;
    bool is_absent(const std::string& name) const { return absent_.contains(name); }
    Seq head() const { return head_; }
    std::string_view state_of(const std::string& name) const;
    int failing_streak(const std::string& name) const;
    std::vector<SubscriberReport> report(Now now) const;

    bool has_changes() const;
    /// Something that should not wait for the next time.
    bool has_urgent_changes() const;
    std::vector<DeliveryChange> take_changes();
    /// What a person should hear.
    std::vector<std::string> take_notices() { return std::exchange(notices_, {}); }
    /// For tests: each name is in one state, and attempts are those of the present.
    void check_invariants() const;

  private:
    struct Told {
        EventType type;
        RenderedEventRef rendered;
    };
    /// A stretch of the log, read once for all who stand at the same place.
    struct Page {
        Seq after = 0;
        Seq next = 0;
        std::optional<Gap> gap;
        std::vector<Told> told;
    };
    struct Absent {
        Subscription subscription;
        std::vector<PendingDelivery> letters;
    };
    struct Member {
        Subscriber subscriber;
        bool noticed = false;  // that it fails: once, until it works again
    };
    struct UnderWay {
        std::string subscriber;
        Seq seq;
    };

    Member make_member(const SubscriberSpec& spec, Seq from, Now now);
    void put_away(const std::string& name, Member& member, Now now);
    Result<const Page*> page_after(Seq after, Reader& reader);
    void hand_out(Member& member, const Page& page, Now now);
    RenderedEventRef render_event(const Event& event) const;
    RenderedEventRef render_gap(const Gap& gap, Now now) const;
    void give_notice(Member& member, std::string what);

    const std::string node_id_;
    Seq head_;
    std::map<std::string, Member> members_;
    std::map<std::string, Absent> absent_;
    std::map<std::string, Seq> forgotten_;  // at which event, until they are back
    std::map<AttemptId, UnderWay> under_way_;
    AttemptId last_attempt_ = 0;
    std::optional<Page> page_;
    std::vector<EventType> wanted_;  // by anybody
    std::vector<DeliveryChange> changes_;
    std::vector<std::string> notices_;
};

}  // namespace knell
