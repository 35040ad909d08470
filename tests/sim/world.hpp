#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "action.hpp"
#include "clients.hpp"
#include "coverage.hpp"
#include "delivery_loop.hpp"
#include "followers.hpp"
#include "ledger.hpp"
#include "node.hpp"
#include "promises.hpp"
#include "spool.hpp"

namespace knell::sim {

/// One run: a host, a daemon on it, its clients and subscribers, and the truth about them all.
/// The same actions give the same run, to the last byte.
class World {
  public:
    explicit World(std::uint64_t seed);
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    /// Keeps a line for each thing that happens.
    void trace_into(std::vector<std::string>* lines) { trace_ = lines; }

    void perform(const Action& action);
    /// The end of a run: everything is made well, time passes, and all must be in order.
    void heal();

    const std::optional<Broken>& broken() const { return broken_; }
    const Coverage& coverage() const { return coverage_; }
    /// Equal for equal runs.
    std::uint64_t digest() const;

  private:
    struct Request {
        Host::Duration due;
        Input input;
        int tries_left = 0;
        bool reply_lost = false;
    };

    // --- the daemon (world.cpp) --------------------------------------------------------------

    void start_daemon();
    void crash_daemon();
    void fall_silent(bool flushed);
    void cut_power(std::uint64_t seed);
    void stop_daemon();
    /// Time passes while the daemon works.
    void run_for(Host::Duration time);
    void pump(bool save_at_once = false);
    /// Something that was said to the daemon and is in its hands.
    struct Spoken {
        Input input;
        bool observed = false;
        std::optional<Request> request;
        AwakeClock::Readings arrived{};
        Host::Duration heard{0};  // the same, on the ledger's listening clock
        Host::Duration at{0};     // and in the simulation's time
        std::string from_spool;   // the file; "": from elsewhere
    };
    /// The daemon's threads that listen, which go on while a commit takes its time.
    void hear();
    Spoken heard_now(Input input, bool observed);
    /// All of it through the write step, group by group.  Gives the replies; none when the daemon
    /// did not live to send them.
    std::vector<Result<Reply>> decide(std::vector<Spoken> spoken);
    /// One group: the next of `spoken` from `first` on.  False when the daemon did not live.
    bool step(std::vector<Spoken>& spoken, std::size_t first, Host::Duration taken_at,
              std::vector<Result<Reply>>& replies);
    void answer(Request&& request, const Result<Reply>& reply);
    // What it did (world_log.cpp).
    void take_in(const StepFacts& facts, Moment moment);
    /// What can be read after a start: first what the daemon before could not tell any more.
    std::vector<Event> take_in_start();
    /// What became readable since the last time.
    std::vector<Event> read_new_events();
    /// After a restart: what was readable before is still there, and the same.
    void check_old_events();
    bool lose_power_if_due();
    /// Old events go, and none before its time.
    void trim();

    // --- what happens (perform*.cpp) ---------------------------------------------------------

    bool perform_on_time(const Action& action);
    bool perform_on_process(const Action& action);
    bool perform_by_client(const Action& action);
    bool perform_on_clients(const Action& action);
    bool perform_on_background(const Action& action);
    bool perform_on_conversation(const Action& action);
    bool perform_on_tools(const Action& action);
    bool perform_by_observer(const Action& action);
    bool perform_on_daemon(const Action& action);
    bool perform_on_subscriber(const Action& action);
    bool perform_on_follower(const Action& action);

    void forget_subscriber(std::size_t who, const Action& action);
    void kill_unsaved(std::size_t who, const Action& action);
    void end_some_process(const Action& action, Departure departure);
    void end_process(Host::Process* process, const Action& action, Departure departure);
    void leave_process(const Action& action);
    void outspeak_death(const Action& action);
    void speak_for_wrapper(const Action& action, const SessionId& id, const Life& life);
    void signal_process(const ProcessIdentity& identity, int number);
    std::string pick_home(const Action& action) const;
    Host::Process* fork_for(const std::string& session, const Action& action);
    void start_background(const Action& action);
    void register_process(const Action& action);
    void fork_background(const Action& action);
    void execute(Host::Process& process);
    /// One that the log tells of, mostly one that runs; nullptr when there is none.
    const KnownProcess* pick_known(std::uint32_t which, ProcessId& id) const;
    /// One that lives; nullptr when there is none.
    Host::Process* pick_background(std::uint32_t which);
    void settle_background();
    void note_held();
    void create(const Action& action, std::optional<Close> and_close);
    void create_crowd(const Action& action);
    void resume(const Action& action, bool takeover, bool and_close);
    void write(const Action& action);
    void beat_all(const Action& action);
    void route(const Action& action);
    Owner pick_gateway(const Action& action, const std::string& key);
    void talk(const Action& action);
    SessionName pick_name(const Action& action) const;
    void branch(const Action& action);
    /// What daemon/compressor does: reads what was said, and later has something to record.
    void begin_compression(const SessionId& session, Generation generation);
    void summarise(const Action& action);
    void change_policies(const Action& action);
    std::string pick_reporter(std::uint32_t which) const;
    void report_tools(const Action& action);
    /// Sessions that the daemon names itself get a new id with each call.
    void give_fresh_id(Input& input);
    Message next_message();
    void queue_up(const Action& action);
    void create_hosted(const Action& action);
    static Owner hosted_owner(const Action& action);
    /// One that is connected, or a new one; none when there are too many.
    ClientId some_client(std::uint32_t which);
    void call(Input input);
    void hang_up(ClientId client);
    void storm(const Action& action);
    void send_clients_away();
    /// The connection it came on, or would come on, is closed.
    bool is_cut(const Input& input) const;
    void loop_crashes(const Action& action);
    SessionId id_for_run(const Action& action);
    void spool_start(const Action& action);
    void spool_end(const Action& action);
    std::vector<Spoken> take_from_spool();
    void check_taken_in(const std::vector<std::string>& delivered);
    void sweep();
    void send(const Action& action, Input input);
    Owner pick_owner(const Action& action);
    /// Some session, "" when there is none; now and then one that never was.
    std::string pick_session(std::uint32_t which) const;
    Generation generation_of(const std::string& id, bool wrong) const;

    // --- seeing ------------------------------------------------------------------------------

    static inline const StepFacts nothing_happened;
    Scene scene(const StepFacts& facts = nothing_happened);
    void check(Moment moment, const Scene& scene);
    void say(std::string line);
    std::map<std::string, Before> states();
    Before before(const std::map<std::string, Before>& states, const SessionId& id) const;
    void count(const StepFacts& facts, const std::map<std::string, Before>& states);
    void count_said(const Said& said, const std::map<std::string, Before>& states);
    Before before_of_named(const SessionId& id, const std::string& key,
                           const std::map<std::string, Before>& states) const;
    void count_told(const Event& event, const std::map<std::string, Before>& states);
    void count_left(const SessionId& id, const std::map<std::string, Before>& states);
    using ProcessStates = std::map<std::string, ProcessBefore>;
    ProcessStates process_states();
    void count_processes(const StepFacts& facts, const ProcessStates& before);
    void count_process_word(const Said& said, const ProcessStates& before);
    void count_process_told(const Event& event, const ProcessStates& before);
    void count_adopted(const ProcessStates& before);
    void count_owner(Happening happening, const ProcessIdentity& process,
                     const std::map<std::string, Before>& states);

    const std::uint64_t seed_;
    Host host_;
    Ledger ledger_;
    Node node_;
    DeliveryLoop delivery_;
    Followers followers_;
    Clients clients_{ledger_};
    Spool spool_;
    Host::Duration spool_looked_at_{0};
    std::vector<Request> requests_;
    std::vector<Spoken> arrived_;  // and not taken by the writer yet
    bool is_listening_ = false;
    /// For what it decides now, and for what was decided and could not be read yet.
    std::vector<Host::Duration> decided_at_;
    std::vector<Host::Duration> start_decided_at_;  // of them, those of the start under way
    bool is_starting_ = false;
    /// So much of what follows from the next commit is carried out, and then the daemon is killed.
    std::optional<std::uint32_t> dies_after_;
    std::uint64_t last_process_ = 0;
    PolicyBook policies_;  // of the config
    struct Compressing {
        SessionId session;
        Generation generation = 0;
        Tally all;
        Tally before_tail;
        std::int64_t tail_after = 0;
    };
    std::vector<Compressing> compressing_;
    int last_message_ = 0;
    Retention retention_;
    std::vector<Host::Duration> told_at_;  // of every event
    std::vector<std::string> ids_;         // of all sessions that somebody tried to create
    int last_id_ = 0;
    std::optional<Broken> broken_;
    Coverage coverage_;
    std::map<std::string, Before> last_states_;  // when the daemon was last up
    ProcessStates last_process_states_;
    std::vector<std::string>* trace_ = nullptr;
};

}  // namespace knell::sim
