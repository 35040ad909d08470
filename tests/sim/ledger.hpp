#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "conversations.hpp"
#include "engine/input.hpp"
#include "hearing.hpp"
#include "host.hpp"
#include "tools.hpp"

namespace knell::sim {

/// What reached the daemon, and its answer.
struct Said {
    Input input;
    Result<Reply> reply;
    Host::Duration arrived{0};     // on the ledger's listening clock
    Host::Duration arrived_at{0};  // in the simulation's time
};

/// What one step of the daemon did, seen from outside.
struct StepFacts {
    std::vector<Said> said;   // in the order of decision
    std::vector<Event> told;  // that can be read since
    bool failed = false;      // the store said no
    bool disk_was_bad = false;
    /// Everything that had arrived by then was decided; on the listening clock.
    std::optional<Host::Duration> heard_until;
    bool by_former = false;  // the daemon before did it, and did not live to tell
    bool by_start = false;   // before anybody could be heard
    /// When the clocks were read for it, in the simulation's time.  Several, when several daemons
    /// did not live to tell: it was one of these.
    std::vector<Host::Duration> decided_at;
};

/// One generation of a session.
struct Life {
    Owner owner;
    OnOwnerLoss on_owner_loss = OnOwnerLoss::end;
    std::chrono::seconds park_window{0};
    LeftoversPolicy leftovers = LeftoversPolicy::none;
    ProcessIdentity wrapper;  // the command's parent; pid 0: it has none
    bool is_owner_known = false;
    Host::Duration last_sign{0};  // on the ledger's listening clock, when it arrived
    /// One that is in the daemon's hands, and goes with it.
    std::optional<Host::Duration> arrived_sign;
    /// How the daemon that runs was told that its owner went, while it was open.
    std::vector<Departure> deaths_seen;
    bool was_held = false;     // with a crowd of leases, for one more TTL
    bool was_unknown = false;  // at any time
    bool open = true;
    /// When its opening was decided, in the simulation's time, and the clock that it began with.
    Host::Duration opened_at{0};
    std::vector<Host::Ahead> opened_ahead;
    WallTime opened_wall;            // on record
    Host::Duration used_at_sign{0};  // see Ledger::used
};

/// A session as everybody outside may know it.
struct Known {
    Generation generation = 0;
    bool open = false;
    std::int64_t messages = 0;     // acknowledged
    std::optional<Labels> labels;  // as the log told last
    Seq last_told = 0;
    std::map<Generation, Life> lives;
};

/// A background process as everybody outside may know it.
struct KnownProcess {
    SessionId session;
    ProcessIdentity process;
    ProcessOrigin origin = ProcessOrigin::started;
    bool running = true;
    bool stale = false;
    /// What the running daemon has taken note of; none: nobody was told.
    std::optional<ProcessActivity> activity;
    std::optional<std::optional<WallTime>> vouched_until;
    bool may_be_over = false;  // a clock has shown that time since
    /// How the running daemon was told that it went.
    std::vector<ProcessGone> words;
    // See Life.
    Host::Duration opened_at{0};
    std::vector<Host::Ahead> opened_ahead;
    WallTime opened_wall;
};

/// A command that told of itself through the spool.
struct SpooledRun {
    Create create;
    bool has_written = true;
    bool is_over = false;    // its close was written, too
    bool is_broken = false;  // what it wrote cannot be understood
};

/// What one follower of a feed has been sent.
struct Following {
    EventQuery query;
    bool has_begun = false;
    Seq cursor = 0;  // everything before was sent, told to be lost, or is not wanted
};

/// One line of a feed.
struct FeedLine {
    std::optional<Gap> gap;
    std::string event;  // its JSON, when it is one

    Seq seq() const;
};

/// Its conversation was to begin anew.
bool is_reset_end(const End& end);

/// The truth of a run, kept from outside: what was answered, told and heard, and what really
/// happened to owners.  Independent of the code under test.
class Ledger {
  public:
    /// The daemon listens until now: `awake` is the host's clock.  A gap between two looks counts
    /// as half a second at most, because nobody could have been heard meanwhile.
    void listen(SteadyTime awake);
    /// A daemon starts, in the simulation's time; and listens.
    void note_start(Host::Duration elapsed) { started_at_.push_back(elapsed); }
    const std::vector<Host::Duration>& started_at() const { return started_at_; }
    void begin_listening(SteadyTime awake);
    Host::Duration listened() const { return listened_; }
    /// The daemon decides something: `awake` is the host's clock, `elapsed` the simulation's.
    void note_decision(SteadyTime awake, Host::Duration elapsed);
    /// Until when whoever was silent surely had the chance to be heard: a stall that is just over
    /// is forgiven.
    Host::Duration heard_surely_until(Host::Duration now) const;
    /// From where a lease's present time runs: its last sign of life, or the first start of a
    /// daemon after that.
    Host::Duration runs_from(const Life& life) const;
    /// What a lease has surely used up since its last sign of life, whichever daemons came and
    /// went: without the first moments of each, which a crash may lose, nor time in which the disk
    /// was bad.
    void count_use(bool is_disk_well) { is_disk_well_ = is_disk_well; }
    Host::Duration used() const { return used_; }

    /// A call comes into the daemon's hands: if it is a sign of life, and in time, it counts from
    /// now on.
    void note_arrival(const Input& input, Host::Duration at);
    /// The daemon is no more, and with it what nobody was told that it knows, unless it wrote that
    /// down (`flushed`).
    void forget_arrivals(bool flushed);

    /// Takes in what a step did, by now.
    void note(const StepFacts& step);
    /// Somebody means to close a session: only then may it end that way.
    void note_intent(const Input& input);
    bool may_be_closed(const SessionId& id, Generation generation, Reason reason) const;
    /// When the listening clock stood there, for a process that has just ended.
    void note_death(const ProcessIdentity& process);
    Host::Duration listened_since_death(const ProcessIdentity& process) const;

    /// The owner of a generation whose opening nobody was told of.
    void fill_owner(const Session& row);

    const std::vector<Event>& log() const { return log_; }  // from number 1 on
    /// What was told of the same session before; nullptr: nothing.
    const Event* before(const Event& event) const;
    Seq head() const { return static_cast<Seq>(log_.size()); }
    const std::map<std::string, Known>& sessions() const { return sessions_; }
    const Known* find(const SessionId& id) const;
    const Life* life(const SessionId& id, Generation generation) const;
    std::size_t open_count() const { return open_; }
    std::size_t open_leases() const;

    // --- background processes (ledger_background.cpp)

    const std::map<std::string, KnownProcess>& processes() const { return processes_; }
    const KnownProcess* find(const ProcessId& id) const;
    /// Whether the log leaves this very process running, and under which id.
    const std::string* running_as(const ProcessIdentity& process) const;
    /// Of a session, those that run; and all.
    std::size_t running_of(const SessionId& id) const;
    std::size_t running() const;
    /// Somebody wants it stopped.
    bool may_be_stopped(const std::string& id) const { return stop_intents_.contains(id); }
    /// The clock on the wall shows that time.
    void note_clock(WallTime wall);
    /// Sessions that work was on record for when somebody last looked, on the listening clock.
    void note_held(const SessionId& id) { held_at_[id.text()] = listened_; }
    Host::Duration held_at(const SessionId& id) const;

    Conversations conversations;
    ToolTruth tools;
    std::map<std::string, Hearing> hearings;
    std::map<std::string, std::vector<Forgotten>> forgotten;  // the oldest first
    std::vector<Following> followings;
    std::map<std::string, SpooledRun> runs;

  private:
    void note_reply(const Said& said);
    void note_reporters(const ReportTools& reports, Host::Duration arrived);
    void note_seen_death(const OwnerGone& gone);
    void note_event(const Event& event, const StepFacts& step);
    void note_process_event(const Event& event, const StepFacts& step);
    void note_process_reply(const Said& said);
    void note_handed_over(const Event& event, const StepFacts& step);
    void note_sign(const SessionId& id, Generation generation, Host::Duration arrived);
    void note_arrived_sign(const SessionId& id, Generation generation);
    /// A hosted session that is open, which a client asks for.
    const SessionId* hosted_named_by(const Input& input) const;
    Life& life_of(const SessionId& id, Generation generation);

    std::vector<Event> log_;
    std::vector<Seq> before_;  // of each event, the number of the one before of its session
    std::map<std::string, Known> sessions_;
    std::size_t open_ = 0;
    bool step_failed_ = false;
    // Of the step that is taken in.
    Host::Duration heard_until_{0};
    Host::Duration happened_at_{0};
    struct Stall {
        Host::Duration from;        // in the simulation's time
        Host::Duration decided_by;  // on a clock that counts half a second for each gap at most
    };
    std::optional<std::pair<SteadyTime, Host::Duration>> last_decision_;  // awake, elapsed
    Host::Duration decided_by_{0};
    std::vector<Stall> stalls_;  // of late
    Host::Duration listened_{0};
    std::vector<Host::Duration> starts_;  // of daemons, on the listening clock
    std::vector<Host::Duration> started_at_;
    Host::Duration used_{0};
    bool is_disk_well_ = true;
    SteadyTime last_look_;
    std::vector<Close> close_intents_;
    std::set<std::string> stop_intents_;
    std::map<std::string, KnownProcess> processes_;
    std::map<std::string, Host::Duration> held_at_;
    std::vector<std::pair<ProcessIdentity, Host::Duration>> deaths_;
};

}  // namespace knell::sim
