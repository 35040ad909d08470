#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/decide.hpp"
#include "engine/input.hpp"
#include "engine/state.hpp"
#include "store/store.hpp"

namespace knell {

/// Group commit: many decisions, one transaction; a reply or an effect exists only once its commit
/// does.
///
/// A step, not a loop: the caller brings inputs and the time, so that the daemon, the tests and
/// a simulator run the same code.  One thread, the store's.
class Journal {
  public:
    Journal(State& state, Store& store) : state_(state), store_(store) {}

    /// Takes the open sessions and the numbering from the store.
    Result<void> recover(Now now, std::string boot_id);

    struct Step {
        std::vector<Result<Reply>> replies;  // in the order of the inputs
        std::vector<Effect> effects;
        std::vector<Event> events;  // what is durable now, in order
        /// Of these the last ones: ends and doubts that nobody asked for, to be explained in the
        /// log.
        std::size_t automatic_from = SIZE_MAX;
        std::span<const Event> automatic() const {
            return std::span(events).subspan(std::min(automatic_from, events.size()));
        }
        bool failed = false;  // the store said no: what was decided did not happen
        std::string why_failed;
        /// Rows that another program changed, and what was done about each: for the log.
        std::vector<std::string> conflicts;
    };
    /// Decides `inputs` in order, then what has fallen due, and makes it all durable.  When the
    /// store fails, all inputs of the failed transaction fail with it and the state is as before
    /// them; what fell due is decided again in a later step.  Signs of life hold whatever the store
    /// says.  A row that is not what was decided on (ErrorCode::fenced from the store) fails the
    /// transaction too, and is taken from the store: the next step goes on with what is there.
    ///
    /// `arrived` says when each input did, in their order and none after `now`: a sign of life
    /// counts from there.  Without it all of them arrived now.  Everything that arrived before
    /// `now.steady` must be among `inputs` or have been in an earlier step: what falls due is
    /// decided as of then, and a renewal that waits somewhere must not be missed.
    Step commit(std::vector<Input>&& inputs, Now now, std::span<const Now> arrived = {});

    /// More has fallen due than one step takes.
    bool has_work_left() const { return work_left_; }

    /// Before a planned stop: the last signs of life, all of them.
    Result<void> save_all_seen(Now now);

    struct Counts {
        std::uint64_t commits = 0;
        std::uint64_t commands = 0;
        std::uint64_t failures = 0;
        std::uint64_t heartbeats = 0;
        std::uint64_t reaps = 0;
        GuardCounts tools;
        std::chrono::milliseconds reap_lateness_last{0};
        std::chrono::milliseconds reap_lateness_max{0};
    };
    const Counts& counts() const { return counts_; }

  private:
    struct Sign {
        SessionId id;
        Generation generation = 0;
        Now arrived;
    };

    Result<std::size_t> decide_some(std::span<Input> inputs, Step& step);
    Result<Reply> decide_one(Input&& input, const Session* past);
    /// The background process that an observation is about, if it runs.
    const RunningProcess* process_of(const Input& input) const;
    /// Whether something was decided of that session that is not written yet: its row is out of
    /// date.
    bool is_in_batch(const SessionId& id) const;
    bool has_child_in_batch(const SessionId& id) const;
    Result<std::optional<std::optional<Session>>> find_tip(const std::string& key);
    /// Whether a newer one has the key of that session, open or not.
    Result<std::optional<bool>> has_newer_of_key(const Session& past);
    /// The same of one that is not open, where that is asked for every new id.
    bool is_ended_in_batch(const SessionId& id) const {
        return state_.ended_in_batch(id) || ended_changed_.contains(id);
    }
    /// Whether a new session comes out of itself, through parents that name it: they may have been
    /// opened first.  Nothing: a parent's row is not written yet.
    Result<std::optional<bool>> is_own_ancestor(const Create& create);
    void decide_work(Step& step);
    void flush_seen_if_due();
    /// While leases run that began before this daemon: what they have used up must outlive it.
    void save_listened_now_and_then();
    Result<void> write();
    /// After a transaction was taken back because rows were not as decided: the store is right, as
    /// it would be for a daemon that starts.  Says what was done about which session.
    std::vector<std::string> follow_store();
    void follow_processes(std::vector<std::string>& conflicts);
    /// True when there are more rows than one transaction should hold.
    bool save_some_seen();
    void flush_interactions_if_due();
    bool save_some_interactions();
    std::optional<LastWord> last_word() const;
    void take(Decision&& decision);
    const LiveSession* hosted_named_by(const Input& input) const;
    void note_signs(const Input& input);
    /// The transaction failed: its replies from `first` on, and all that it changed.
    void roll_back(Step& step, std::size_t first, const Error& why);
    /// Inputs behind a failed transaction are not decided; the signs of life in them count.
    void renew_behind(std::span<Input> rest, Step& step, const Error& why);
    void note_lateness(const LiveSession& live, const Decision& decision);

    State& state_;
    Store& store_;
    std::string boot_id_;
    Batch batch_;
    std::vector<Effect> effects_;                  // of the batch
    std::vector<Sign> signs_;                      // of life, in the batch
    std::unordered_set<SessionId> ended_changed_;  // had ended before the batch, and changed in it
    std::span<const Now> arrived_;                 // of the step
    SteadyTime seen_saved_at_{};
    SteadyTime interactions_saved_at_{};
    SteadyTime listened_saved_{};
    Batch::Life life_;
    bool life_is_saved_ = false;
    bool has_conflict_ = false;  // the store answered `fenced` to the last batch
    bool work_left_ = false;
    Counts counts_;
};

}  // namespace knell
