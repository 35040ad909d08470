#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/limits.hpp"
#include "core/retention.hpp"
#include "engine/awake_clock.hpp"
#include "engine/input.hpp"
#include "engine/state.hpp"
#include "journal/journal.hpp"
#include "store/store.hpp"
#include "watch/process_table.hpp"

namespace knell {

/// Looks for leftovers while the daemon starts, when nobody waits yet.
class LeftoverFinder {
  public:
    virtual ~LeftoverFinder() = default;
    /// Told of every owner of an open session first: none of them is anybody's leftover.
    virtual void protect(const ProcessIdentity& owner) = 0;
    virtual std::vector<FoundLeftovers> find(const FindLeftovers& what) = 0;
};

/// What was written down of ends while no daemon could be reached, taken in while one starts.
class SpoolAtStart {
  public:
    virtual ~SpoolAtStart() = default;
    using IsOpen = std::function<bool(const SessionId&)>;
    using Say = std::function<Result<Reply>(Command&&)>;
    /// Says what is written of sessions that are open.
    virtual void take_in(const IsOpen& is_open, const Say& say) = 0;
};

/// What the writer does, without its thread, its queue and its log: the daemon and the simulator
/// run the same steps.  Clocks and processes are handed in.  One thread.
class WriteStep {
  public:
    using ReadClocks = std::function<AwakeClock::Readings()>;
    /// `group_max` words are decided in one step at most.
    WriteStep(Store& store, ReadClocks read_clocks,
              std::size_t group_max = limits::batch_commands_max);

    struct Recovered {
        std::vector<Effect> effects;   // to be carried out once somebody can
        std::vector<Event> automatic;  // to be explained
    };
    /// Takes the open sessions from the store, announces the daemon, takes in what is written of
    /// their ends, and looks at each of their owners: adopted, ended or marked unknown before
    /// anybody can ask.  The same for background processes, whose stopping goes on where it was
    /// asked for.  An owner that has ended and whose parent may still say how is left to the
    /// watch, which waits for that word.  What an earlier daemon was stopping comes as a
    /// StopLeftovers of its own.
    Result<Recovered> recover(const ProcessTable& processes, LeftoverFinder& leftovers,
                              SpoolAtStart& spool, std::string announcement);
    /// Before `recover`: see State.
    void set_turn_window(std::chrono::seconds window) { state_.set_turn_window(window); }
    void set_reset_policies(std::shared_ptr<const ResetPolicies> policies) {
        state_.set_reset_policies(std::move(policies));
    }
    void set_compress_at(std::int64_t tokens) { state_.set_compress_at(tokens); }
    void set_guard_policy(const GuardPolicy& policy) { state_.set_guard_policy(policy); }
    void set_processes_max(std::size_t most) { state_.set_processes_max(most); }
    /// Whoever can be heard is heard from now on: what passed before counts against no lease.
    Now listen_from_now();

    struct Submission {
        Input input;
        /// Nobody waits for the answer to this observation: it is said again when the store
        /// refuses it.
        bool observed = false;
        AwakeClock::Readings arrived;  // when it came into the daemon's hands
    };
    /// Takes all that has arrived until `until`, in the order of arrival, to be decided by `step`,
    /// a group at a time.
    void take(std::vector<Submission>&& words, const AwakeClock::Readings& until);
    bool has_submissions() const { return next_submission_ < submissions_.size(); }
    /// Before words are taken: until when the watch vouches for every owner whose end is not among
    /// them.
    void note_watched_until(SteadyTime boot) { watched_until_ = boot; }
    /// Decides the next group, and what has fallen due: not as of now, but as of the arrival of the
    /// first word that still waits.  What waits may be a renewal, and a lease is not over while its
    /// renewal is in our hands, however slow the disk is.  The replies are to the group's words.
    Journal::Step step();
    /// How long nothing need be done; none: until somebody says something.
    std::optional<std::chrono::milliseconds> max_wait() const;

    /// Lets go of old events, now and then and a few at a time: nobody waits for it.  Gives what
    /// was let go of, if anything.  How old they are goes by the time that this node saw pass, on
    /// the boot's own clock: a clock that is set, or a month switched off, makes no event older.
    Result<std::optional<Gap>> trim(const Retention& retention);
    /// Keeps the search index behind the messages, a few at a time: back to back while nothing is
    /// written, and for a small share of the time while something is.
    Result<void> index_messages();
    /// Before a planned stop: the last signs of life.
    Result<void> save_all_seen();

    const State& state() const { return state_; }
    const Journal::Counts& counts() const { return journal_.counts(); }
    /// The newest event before the announcement.
    Seq head_at_start() const { return head_at_start_; }
    Seq first_seq() const { return first_seq_; }
    bool is_failing() const { return failing_; }
    /// Observers' words that the store refused wait to be said again.
    bool has_unheard() const { return !to_repeat_.empty(); }

  private:
    Now read_now();
    /// The words of the next group, and when each of them arrived.
    struct Group {
        std::vector<Input> inputs;
        std::vector<Now> arrived;
        std::vector<std::pair<std::size_t, Observation>> observed;  // by place among the inputs
        std::size_t repeated = 0;  // the first of them: refused by the store before
    };
    Group next_group();
    void try_store(Journal::Step& step, Now now);
    std::vector<Input> look_at_owners(const SurveyReply& survey, const ProcessTable& processes);
    Result<void> take_in(SpoolAtStart& spool, Recovered& recovered);
    Result<void> end_the_dead(std::vector<Input> findings, LeftoverFinder& leftovers,
                              Recovered& recovered);
    Result<void> resume_stopping(std::vector<Effect>& effects);
    std::vector<Input> look_at_processes(const ProcessTable& processes);
    /// Those that were not found gone: watched from now on.
    void watch_processes(std::vector<Effect>& effects) const;
    bool has_too_many_events(const Retention& retention) const;
    void begin_log_age(const std::string& boot_id);
    std::chrono::milliseconds log_age() const;
    Result<void> mark_log();
    std::optional<std::chrono::milliseconds> max_wait_for_words() const;
    /// The newest event that need not be kept.
    Seq last_to_go(const Retention& retention) const;

    Store& store_;
    const ReadClocks read_clocks_;
    const std::size_t group_max_;
    AwakeClock::Readings last_readings_;
    std::optional<SteadyTime> looked_;  // at the last step
    AwakeClock clock_;
    State state_;
    Journal journal_;
    std::optional<SteadyTime> watched_until_;
    bool failing_ = false;  // the store said no to the last step
    Seq head_at_start_ = 0;
    Seq first_seq_ = 0;
    LogAge age_at_start_;
    std::vector<LogMark> marks_;
    std::chrono::milliseconds age_saved_{0};
    SteadyTime trimmed_at_{};
    bool trim_left_ = false;
    std::uint64_t indexed_commits_ = 0;  // how many there were when the index was last looked at
    std::uint64_t seen_commits_ = 0;
    SteadyTime written_at_{};  // the boot's clock, as the next
    SteadyTime index_again_at_{};
    bool index_left_ = false;
    std::vector<Submission> submissions_;
    std::size_t next_submission_ = 0;  // of these, the first that still waits
    AwakeClock::Readings taken_until_;
    /// Observers say a thing once: what the store refused is said again in the next step.
    std::vector<Observation> to_repeat_;
};

}  // namespace knell
