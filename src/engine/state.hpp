#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/limits.hpp"
#include "engine/clock_steps.hpp"
#include "engine/effect.hpp"
#include "engine/guard_table.hpp"
#include "engine/key_index.hpp"
#include "engine/lease_census.hpp"
#include "engine/live_table.hpp"
#include "engine/observation.hpp"
#include "engine/owner_table.hpp"
#include "engine/process_table.hpp"
#include "engine/timer_wheel.hpp"
#include "engine/wall_deadlines.hpp"
#include "reset/reset_policies.hpp"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace knell {

/// What the engine knows: the open sessions, their owners and deadlines, and where the numbering
/// stands.  Changed only by `apply` (what the store must learn too) and, for what lives in memory
/// alone, by `renew` and `mark_gone`.  Memory is ahead of the store until the batch is committed;
/// `revert` takes a failed batch back whole.  One thread.
class State {
  public:
    /// At start, from the store.  A lease and a park window have their full time again, counted
    /// from the first start after their last sign of life: a daemon that starts over and over again
    /// does not keep them for ever.
    /// `boot_id`: of the boot whose clock `begin` will be told.
    void set_heads(const Heads& heads, std::string_view boot_id);
    /// The last word on record on until when a daemon has watched would prove too much to the next
    /// one, and must be taken off: the clock was set back behind it, or a session was opened that
    /// had begun before it, unseen, as those that were spooled.
    bool is_last_word_stale() const { return last_word_stale_; }
    void last_word_written(const LastWord& word);
    /// No word of until then or before may be written: of what was opened here meanwhile somebody
    /// began unseen.
    SteadyTime unwatched_until() const { return unwatched_until_; }
    void adopt(const Session& session);
    void adopt(const BackgroundProcess& process);
    /// For how long a turn holds a hosted session that an earlier daemon saw it begin in.
    void set_turn_window(std::chrono::seconds window) { turn_window_ = window; }
    /// How many background processes the node has on record at most: those that a session leaves
    /// behind come on record within that.
    void set_processes_max(std::size_t most) { processes_max_ = most; }
    std::size_t processes_max() const { return processes_max_; }
    /// A session is summarised by itself when a turn ends past so many tokens; 0: never.
    void set_compress_at(std::int64_t tokens) { compress_at_ = tokens; }
    std::int64_t compress_at() const { return compress_at_; }
    /// When an agent counts as stuck, and what follows.
    void set_guard_policy(const GuardPolicy& policy) {
        if (policy != guard_policy_) guard_policy_ = policy;
    }
    const GuardPolicy& guard_policy() const { return guard_policy_; }
    /// The store is right about that session and memory is not: takes the row as it is, with its
    /// full time from now, or, without one, forgets the session.  Between batches.
    void follow(const SessionId& id, const Session* row);
    /// The same of a background process: the store does not have it as running.
    void forget(const ProcessId& id);

    /// A step begins: deadlines up to `now` fall due.  Its steady time is how far everything that
    /// arrived has been heard, or is heard in this step: what arrived later may be a renewal.
    void begin(Now now);
    Now now() const { return now_; }
    /// What is decided next arrived then: a sign of life counts from there, however long it waited.
    void hear(Now arrived) { heard_ = arrived; }
    Now heard() const { return heard_; }
    /// The same by the clock on the wall.
    WallTime heard_at() const;
    /// When a sign of life that is decided now was given.
    WallTime seen_at(const LiveSession& live) const;

    /// Now, as that session's record counts it.  A session's times never run backwards: while the
    /// wall clock is behind where it stood when the session began, because somebody set it back,
    /// the session's own clock goes on as if nothing had happened.
    WallTime time_for(const LiveSession& live) const;
    /// A moment on the boot clock, the same way; none: now.  The wall clock is recorded by the
    /// millisecond: not later than that moment, and not earlier.
    WallTime earliest_for(const LiveSession& live, std::optional<SteadyTime> boot) const;
    WallTime latest_for(const LiveSession& live, std::optional<SteadyTime> boot) const;
    /// The same by the clock of a background process, which may outlive its session.
    WallTime time_for(const RunningProcess& process) const;
    WallTime earliest_for(const RunningProcess& process, std::optional<SteadyTime> boot) const;
    WallTime latest_for(const RunningProcess& process, std::optional<SteadyTime> boot) const;
    std::optional<WallTime> last_word_for(const RunningProcess& process) const;
    /// By how much it is behind, or zero.
    std::chrono::milliseconds set_back_for(const LiveSession& live) const;
    std::chrono::milliseconds set_back_for(const RunningProcess& process) const;
    /// The last moment at which an earlier daemon is known to have watched that session's owner.
    std::optional<WallTime> last_word_for(const LiveSession& live) const;
    /// The wall clock was set back while no daemon ran, and nobody knows by how much.
    bool was_set_back_unseen() const { return was_set_back_unseen_; }

    /// Every owner whose end was not told by then was there at `boot`: the watch has looked.
    void set_watched_until(std::optional<SteadyTime> boot) { watched_until_ = boot; }
    std::optional<SteadyTime> watched_until() const { return watched_until_; }
    /// The same, as of the last whole step: whatever is known to have ended by then was decided.
    std::optional<SteadyTime> vouched_until() const { return vouched_until_; }
    void vouch() { vouched_until_ = watched_until_; }
    /// Owners whose end was told are still on record as living.
    bool has_leaving() const { return leaving_ > 0 || !gone_.empty(); }

    const LiveSession* find(const SessionId& id) const;
    /// The open session of that key, the newest of them where there are several.  O(1).
    const LiveSession* find_by_key(std::string_view key) const;
    const LiveSession& at(Slot slot) const { return table_.at(slot); }
    const OwnerHosts& owner_hosts() const { return owner_hosts_; }
    const OwnerTable& owners() const { return owners_; }
    const OwnerEntry* owner_of(const LiveSession& live) const;
    const RunningProcesses& processes() const { return processes_; }
    const GuardTable& guards() const { return guards_; }
    const Heads& heads() const { return heads_; }
    /// Those that clients of an earlier daemon looked at, until that is off the record.
    const std::vector<SessionId>& attached_before() const { return attached_before_; }
    void forget_attached_before() { attached_before_.clear(); }
    std::size_t open_count() const { return table_.size(); }
    std::size_t count(Status status) const { return counts_.at(static_cast<std::size_t>(status)); }
    std::size_t parked_count() const { return parked_count_; }
    /// Sessions whose reset is due and waits for background work.
    std::size_t held_reset_count() const { return held_reset_count_; }
    std::size_t lease_count() const { return census_.total(); }
    /// Leases and windows that run since before this daemon did.
    bool has_silent_since_start() const { return silent_count_ > 0; }
    bool has_deadlines() const { return wheel_.size() > 0 || !due_.empty(); }

    /// The one door.  `change` was decided on this very state.
    void apply(const Change& change);
    void number(Event& event) { event.seq = ++heads_.seq; }

    /// By which policies conversations are reset; until they are known nothing is decided of any
    /// reset.  Sessions that are open follow a change a few thousand a step.
    void set_reset_policies(std::shared_ptr<const ResetPolicies> policies);
    /// None is decided while a daemon starts and has not heard yet how owners went.
    void let_resets_wait(bool wait) { resets_wait_ = wait; }
    /// Nobody was heard since the last step: somebody may have spoken meanwhile, and could not say
    /// so.  For a moment resets are judged by the clock as it stood then.
    void forgive_stall();
    bool is_following_policies() const { return policies_followed_ < policies_to_follow_; }
    const ResetPolicy& policy_of(const LiveSession& live) const;
    const ResetPolicies& reset_policies() const { return *policies_; }
    /// By the clock on the wall as if it had never been set: for what is measured from a time that
    /// was recorded.
    WallTime unset_now() const { return now_.wall - clock_set_; }
    /// Since when its policy wants a session reset in which somebody last spoke then, by that
    /// clock; none: it does not yet.
    std::optional<ResetKind> reset_due(const ResetPolicy& policy, WallTime interaction) const;
    /// By that clock, what the one on the wall showed when it went on record.
    WallTime unset(WallTime shown) const { return shown - clock_steps_.made_by(shown, clock_set_); }
    /// When somebody last said something to it, by the clock as it is.
    WallTime interaction_of(const LiveSession& live) const {
        return live.interaction() + clock_set_ + set_back_for(live);
    }
    /// Why its policy wants it reset now, whatever may hold that; none while a turn is on, and for
    /// what has no key: a reset begins a new conversation for it.
    std::optional<ResetKind> reset_due(const LiveSession& live) const;
    /// The next session about whose reset something must be decided now.
    std::optional<Slot> next_reset_due();
    /// When something falls due next by the clock on the wall: a reset, or a vouch.
    std::optional<WallTime> next_wall_deadline() const;

    /// Somebody said something to it: O(1), in memory.
    void interact(const SessionId& id);
    /// The next one of which that is not in the store yet.
    std::optional<Slot> next_interaction_unsaved();
    /// A session of that key ended since the last settle; see ended_in_batch.
    bool key_ended_in_batch(const std::string& key) const { return ended_keys_.contains(key); }

    /// What is known now of its tools' calls; goes with a batch that fails.
    void set_guard(Ordinal session, GuardState&& state) { guards_.set(session, std::move(state)); }

    /// A sign of life: O(1), in memory.
    void renew(const SessionId& id);
    /// Who opened a session in the last batches learns of it only now, `late` after the time they
    /// were decided for: a lease runs from here.
    void start_leases(std::chrono::nanoseconds late);
    /// A process that owns sessions is gone; `next_work` hands them out one by one.
    void mark_gone(const OwnerGone& gone);
    void mark_unclear(const ProcessIdentity& process, bool unclear);
    /// It is gone, and will be said to be once it is known what it left behind.
    void mark_leaving(const OwnerGone& gone);

    /// The next session about which something must be decided now, or none.
    std::optional<Slot> next_work();
    /// The next background process that nobody vouches for any more, which is not on record yet.
    const RunningProcess* next_vouch_over() const;
    /// When that is so for the first of them, by the clock on the wall.
    std::optional<WallTime> next_vouch_end() const;
    /// The next session of which it is on record wrongly whether background work keeps it: by a
    /// daemon before this one, or because another program wrote to the store.
    std::optional<Slot> next_background_unsure();
    /// True when the leases that fall due now are to be held, not reaped.  See LeaseCensus.
    bool holds_leases();
    /// The next one whose last signs of life are not in the store yet.
    std::optional<Slot> next_unsaved();

    /// Ended since the last settle: its row is not readable from the store yet.
    bool ended_in_batch(const SessionId& id) const { return ended_.contains(id); }

    /// The batch is durable: what follows from it for the outside world.
    std::vector<Effect> settle();
    void revert();

  private:
    /// What a session was before a change: absent (it was opened), or as it is here.
    struct Undo {
        SessionId id;
        std::optional<LiveSession> before;
    };
    struct ProcessUndo {
        ProcessId id;
        std::optional<RunningProcess> before;
    };
    struct Due {
        Slot slot;
        Ordinal ordinal;
    };

    void open(const Opened& change);
    void open(const Reopened& change);
    /// Whether it is opened when its owner had been there for a while, and nobody watched it.
    void note_begin(WallTime since);
    void end(const Ended& change);
    void open(const ProcessOpened& change);
    void end(const ProcessEnded& change);
    void set_background(const BackgroundSet& change);
    /// As `modify`, of a background process.
    template <typename Change>
    void modify_process(const ProcessRef& process, Change&& change);
    void change(const ProcessMarked& change);
    void change(const ProcessVouched& change);
    void change(const ProcessStopAsked& change);
    void change(const ProcessHandedOver& change);
    void revert_processes();

    /// The two ways a session enters and leaves the tables; links, deadlines and counts follow.
    Slot insert(LiveSession&& live);
    LiveSession erase(Slot slot);
    /// When its reset falls due, as its policy says now.  A deadline may stand too early, never too
    /// late: an interaction does not move it, see next_reset_due.
    void schedule_reset(Slot slot);
    /// What holds its reset is different now.
    void look_at_reset_again(const SessionId& id);
    void look_at_reset_again(Slot slot);
    void follow_policies();
    void note_interaction(LiveSession& live);
    /// What it is now is what `revert` goes back to.
    void keep_for_revert(Slot slot);
    /// The one way it changes in place, its present self kept for `revert`.
    template <typename Change>
    void modify(const SessionId& id, Change&& change);

    void set_deadline(Slot slot, SteadyTime deadline);
    /// In the wheel, for the next of its deadlines.
    void schedule(Slot slot);
    /// A sign of life moves the deadline of a lease.
    void postpone(Slot slot);
    void count_lease(const LiveSession& live, bool in);
    void count(const LiveSession& live, bool in);
    /// What a hosted session is kept for begins anew, now.
    void begin_window(Slot slot);
    /// Of one whose last client has gone that is told soon, if its coming was told.
    void expect_detach(LiveSession& live) const;
    SteadyTime first_deadline(const LiveSession& live, SteadyTime from) const;
    /// The clock of a session whose newest time on record is `newest`.
    std::chrono::milliseconds clock_for(WallTime newest) const;
    /// By how much the wall clock is behind where it stood then, or zero.
    std::chrono::milliseconds set_back_since(std::chrono::milliseconds clock) const;
    /// So long ago was that moment on the boot clock; none: now.
    std::chrono::nanoseconds ago(std::optional<SteadyTime> boot) const;
    /// What is recorded of it from now on is by the clock as it is, set ahead or not: when that is
    /// set back again, these times must not be passed either.
    void believe_clock(LiveSession& live);
    /// How the wall clock was set between the last word of an earlier daemon and the first step.
    std::chrono::milliseconds step_since_last_word(Now now);
    void set_doubt(LiveSession& live, std::optional<WallTime> unknown,
                   std::optional<WallTime> stalled);
    std::optional<Slot> next_of_gone_owner();
    std::optional<Slot> next_due();

    LiveTable table_;
    KeyIndex keys_;
    OwnerHosts owner_hosts_;
    TextPool texts_;
    OwnerTable owners_;
    RunningProcesses processes_;
    GuardTable guards_;
    GuardPolicy guard_policy_;
    TimerWheel wheel_;
    std::shared_ptr<const ResetPolicies> policies_ = std::make_shared<const ResetPolicies>();
    bool resets_wait_ = false;
    bool knows_policies_ = false;
    Slot policies_followed_ = 0;   // by the sessions in slots below
    Slot policies_to_follow_ = 0;  // by those below; whoever came later did so at once
    WallDeadlines<Slot, DensePositions> daily_due_;  // by the clock on the wall
    WallDeadlines<Slot, DensePositions> idle_due_;   // by the clock as if it had never been set
    /// How the clock stood when the daemon stalled, and until when that counts.
    struct Stall {
        WallTime unset;
        WallTime wall;
        SteadyTime forgiven_until;
    };
    bool is_forgiven(const Stall& stall) const { return now_.steady < stall.forgiven_until; }
    WallTime resets_until_unset() const;
    WallTime resets_until_wall() const;
    std::optional<Stall> stall_;
    LeaseCensus census_;
    Heads heads_;
    Now now_;
    Now heard_;
    bool has_begun_ = false;
    std::chrono::seconds turn_window_ = limits::turn_window_default;
    std::size_t processes_max_ = limits::processes_default;
    std::int64_t compress_at_ = 0;
    std::chrono::milliseconds clock_set_{0};  // all steps of the wall clock so far, added up
    ClockSteps clock_steps_;
    std::optional<SteadyTime> watched_until_;
    std::optional<SteadyTime> vouched_until_;
    bool last_word_stale_ = false;
    std::optional<WallTime> word_on_record_;
    SteadyTime unwatched_until_{};
    bool was_set_back_unseen_ = false;
    std::size_t leaving_ = 0;
    std::array<std::size_t, status_names.size()> counts_{};

    std::size_t silent_count_ = 0;
    std::size_t parked_count_ = 0;
    std::size_t held_reset_count_ = 0;
    std::vector<OwnerTable::Number> gone_;
    std::deque<Due> due_;
    std::deque<Due> unsaved_;
    std::deque<Due> interactions_unsaved_;
    std::vector<TimerWheel::Number> fired_;
    std::vector<SessionId> attached_before_;
    std::vector<Due> opened_;  // leases whose owners were not told yet
    std::vector<SessionId> background_unsure_;
    SteadyTime hold_until_{};

    // Of the batch that is being decided.
    std::vector<Undo> undo_;
    std::vector<ProcessUndo> process_undo_;
    std::vector<SessionId> background_sure_;  // to be looked at again if it fails
    std::unordered_set<SessionId> ended_;
    std::unordered_set<std::string> ended_keys_;
    std::vector<OwnerTable::Number> done_with_;  // owners whose last session was ended
    Heads heads_before_;
};

}  // namespace knell
