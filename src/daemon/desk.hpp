#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/retention.hpp"
#include "engine/awake_clock.hpp"
#include "engine/command.hpp"
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

/// What the writer does, without its thread, its queue and its log: the daemon and the simulator
/// run the same steps.  Clocks and processes are handed in.  One thread.
class Desk {
  public:
    using ReadClocks = std::function<AwakeClock::Readings()>;
    Desk(Store& store, ReadClocks read_clocks);

    struct Recovered {
        std::vector<Effect> effects;   // to be carried out once somebody can
        std::vector<Event> automatic;  // to be explained
    };
    /// Takes the open sessions from the store, announces the daemon, and looks at each of their
    /// owners: adopted, ended or marked unknown before anybody can ask.  What an earlier daemon was
    /// stopping comes as a StopLeftovers of its own.
    Result<Recovered> recover(const ProcessTable& processes, LeftoverFinder& leftovers,
                              std::string announcement);

    struct Word {
        Command command;
        bool observed = false;  // nobody waits for the answer: said again when the store refuses it
    };
    /// One group, at most `limits::batch_commands_max` words, and what has fallen due.  The replies
    /// are to `words`, in their order.
    Journal::Step step(std::vector<Word>&& words);
    /// How long nothing need be done; none: until somebody says something.
    std::optional<std::chrono::milliseconds> patience() const;

    /// Lets go of old events, now and then and a few at a time: nobody waits for it.  Gives what
    /// was let go of, if anything.
    Result<std::optional<Gap>> trim(const Retention& retention);
    /// Before a planned stop: the last signs of life.
    Result<void> save_all_seen();

    const State& state() const { return state_; }
    const Journal::Counts& counts() const { return journal_.counts(); }
    /// The newest event before the announcement.
    Seq head_at_start() const { return head_at_start_; }
    Seq first_seq() const { return first_seq_; }
    bool is_failing() const { return failing_; }

  private:
    Now read_now();
    std::vector<Command> look_at_owners(const SurveyReply& survey, const ProcessTable& processes,
                                        std::vector<Effect>& effects);
    Result<void> end_the_dead(std::vector<Command> commands, LeftoverFinder& leftovers,
                              Recovered& recovered);
    Result<void> resume_stopping(std::vector<Effect>& effects);
    bool has_too_many_events(const Retention& retention) const;

    Store& store_;
    const ReadClocks read_clocks_;
    AwakeClock::Readings last_readings_;
    AwakeClock clock_;
    State state_;
    Journal journal_;
    bool failing_ = false;  // the store said no to the last step
    Seq head_at_start_ = 0;
    Seq first_seq_ = 0;
    SteadyTime trimmed_at_{};
    bool trim_left_ = false;
    /// Observers say a thing once: what the store refused is said again in the next step.
    std::vector<Command> unheard_;
};

}  // namespace knell
