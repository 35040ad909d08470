#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coverage.hpp"
#include "deliver/delivery_scheduler.hpp"
#include "deliver/saver.hpp"
#include "ledger.hpp"
#include "node.hpp"

namespace knell::sim {

/// How a receiver behaves.
enum class Mood : std::uint8_t {
    good,
    slow,     // takes it, says so later
    failing,  // does not take it
    mute,     // takes it, never says so: the attempt times out
    gone,     // says: never again
    fickle    // each time another of these
};
inline constexpr std::array<std::string_view, 6> mood_names{"good", "slow", "failing",
                                                            "mute", "gone", "fickle"};

/// Somebody asked the daemon to forget a subscriber.
struct Asked {
    std::string name;
    bool is_there = false;  // its file
    bool is_known = false;  // something is kept for it
    DeliveryScheduler::Forgetting answer{};
    std::vector<SubscriberReport> before;
    std::vector<SubscriberReport> after;
};

/// The real scheduler and its saver, with receivers that the simulation plays.
class DeliveryLoop {
  public:
    /// Called before the ledger takes note, except `refused`.
    struct Watchers {
        /// A receiver is given an event.
        std::function<void(const std::string& name, const Hearing&, const RenderedEvent&)> hear;
        /// This is on record of a subscriber.
        std::function<void(const std::string& name, const Hearing&, const Place&)> saved;
        /// This is on record, as it should be, after a save that the store refused.
        std::function<void(const Hearing&, const Place&)> refused;
        std::function<void(HookHappening, HookState before)> happened;
    };
    DeliveryLoop(Host& host, Ledger& ledger, Node& node, Watchers watchers);

    /// With the daemon.
    void start();
    void crash();
    bool is_up() const { return scheduler_ != nullptr; }

    /// Reads, tries, and takes in what became of attempts.
    void step();
    /// What is to be saved by now; nothing while a save is under way.  `is_awaited`: somebody's
    /// answer waits for it.
    std::optional<SaveDeliveries> take_save(bool is_awaited);
    /// What a daemon saves last, when it is stopped.
    std::optional<SaveDeliveries> take_rest();
    void finish_save(bool ok);
    bool is_clean() const { return saver_.is_all_saved(*scheduler_); }

    std::size_t size() const { return receivers_.size(); }
    const std::string& name(std::size_t i) const { return receivers_[i].spec.name; }
    void set_mood(std::size_t i, Mood mood) { receivers_[i].mood = mood; }
    void pause(std::size_t i);
    void resume(std::size_t i);
    void retry(std::size_t i);
    /// Its file comes or goes.  `is_noticed`: when that happens; else the daemon reads it for
    /// another reason, as where a hook could not be used and now can.
    void set_present(std::size_t i, bool present, bool is_noticed = true);
    /// Its file says something else.
    void change(std::size_t i);
    Asked forget(std::size_t i);
    HookState state(const std::string& name) const;
    /// Whose row on record is not what the daemon knows.
    std::vector<std::string> unsaved() const;
    const DeliveryScheduler& scheduler() const { return *scheduler_; }

  private:
    struct Receiver {
        SubscriberSpec spec;
        EventFilter other_events;  // that it wants when its file is changed
        Mood mood = Mood::good;
        bool present = true;
    };
    struct Attempt {
        AttemptId id;
        std::string subscriber;
        RenderedEventRef rendered;
        Host::Duration due;
        Outcome outcome;
    };

    void read_files();
    void begin(const DeliveryScheduler::Attempt& attempt);
    void hear(const std::string& name, const RenderedEvent& rendered);
    void finish_due();
    void finish(const Attempt& attempt);
    /// Of letters that were given up, ever.
    std::int64_t given_up(const std::string& name) const;

    // --- what is on record (postbox_record.cpp) ----------------------------------------------

    bool read_record(bool at_start);
    std::optional<Place> place_of(const std::string& name) const;
    /// After a crash: which of those of one name the record is about.
    void find_out_who_is_left(const std::string& name, const Place& place);
    void compare_with_record();

    Host& host_;
    Ledger& ledger_;
    Node& node_;
    const Watchers watchers_;
    std::vector<Receiver> receivers_;
    std::unique_ptr<DeliveryScheduler> scheduler_;
    Saver saver_;
    Seq changed_at_ = 0;           // the newest event when a change of files was noticed
    std::set<std::string> known_;  // to this scheduler
    std::vector<Attempt> attempts_;
};

}  // namespace knell::sim
