#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "deliver/courier.hpp"
#include "ledger.hpp"
#include "node.hpp"

namespace knell::sim {

/// How a receiver behaves.
enum class Mood : std::uint8_t {
    good,
    slow,     // takes it, says so later
    failing,  // does not take it
    mute,     // takes it, never says so: the attempt times out
    gone      // says: never again
};
inline constexpr std::array<std::string_view, 5> mood_names{"good", "slow", "failing", "mute",
                                                            "gone"};

/// The real courier, with receivers that the simulation plays.
class Postbox {
  public:
    /// `hear` is called when a receiver is given a parcel, `saved` when it is on record how far a
    /// subscriber is: both before the ledger takes note.
    struct Watchers {
        std::function<void(const std::string& name, const Hearing&, const Parcel&)> hear;
        std::function<void(const std::string& name, const Hearing&)> saved;
    };
    Postbox(Host& host, Ledger& ledger, Node& node, Watchers watchers);

    /// With the daemon.
    void start();
    void crash();
    bool is_up() const { return courier_ != nullptr; }

    /// Reads, tries, and takes in what became of attempts.
    void step();
    /// What is to be saved by now; nothing while a save is under way.
    std::optional<SaveDeliveries> take_save(bool at_once);
    void finish_save(bool ok);
    bool is_clean() const { return unsaved_.empty() && !saving_ && !courier_->has_changes(); }

    std::size_t size() const { return receivers_.size(); }
    const std::string& name(std::size_t i) const { return receivers_[i].terms.name; }
    void set_mood(std::size_t i, Mood mood) { receivers_[i].mood = mood; }
    void pause(std::size_t i) { courier_->pause(name(i)); }
    void resume(std::size_t i) { courier_->resume(name(i), host_.now()); }
    void retry(std::size_t i);
    void set_present(std::size_t i, bool present);
    bool has_attempts() const { return !attempts_.empty(); }
    const Courier& courier() const { return *courier_; }

  private:
    struct Receiver {
        Terms terms;
        Mood mood = Mood::good;
        bool present = true;
    };
    struct Attempt {
        AttemptId id;
        std::string subscriber;
        ParcelRef parcel;
        Host::Duration due;
        Outcome outcome;
    };

    void set_roster();
    void begin(const Courier::Attempt& attempt);
    void hear(const std::string& name, const Parcel& parcel);
    void finish_due();
    void keep_changes();
    void read_record();
    /// The daemon may have forgotten what it delivered.
    static void may_repeat(Hearing& hearing);

    Host& host_;
    Ledger& ledger_;
    Node& node_;
    const Watchers watchers_;
    std::vector<Receiver> receivers_;
    std::unique_ptr<Courier> courier_;
    std::set<std::string> known_;  // to this courier
    std::vector<Attempt> attempts_;
    std::vector<DeliveryChange> unsaved_;
    std::vector<DeliveryChange> saving_copy_;
    bool saving_ = false;
    Host::Duration saved_at_{0};
};

}  // namespace knell::sim
