#include "daemon/daemon.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "background/watched_processes.hpp"
#include "base/uuid.hpp"
#include "core/limits.hpp"
#include "daemon/background_service.hpp"
#include "daemon/claims.hpp"
#include "daemon/command_search.hpp"
#include "daemon/compressor.hpp"
#include "daemon/config_at_start.hpp"
#include "daemon/daemon_place.hpp"
#include "daemon/delivery.hpp"
#include "daemon/descriptors.hpp"
#include "daemon/feed_reads.hpp"
#include "daemon/first_word.hpp"
#include "daemon/housekeeping.hpp"
#include "daemon/http_service.hpp"
#include "daemon/leftover_log.hpp"
#include "daemon/leftover_thread.hpp"
#include "daemon/node_status.hpp"
#include "daemon/on_loop.hpp"
#include "daemon/open_home.hpp"
#include "daemon/owner_stops.hpp"
#include "daemon/owner_sweep.hpp"
#include "daemon/process_setup.hpp"
#include "daemon/read_service.hpp"
#include "daemon/read_thread.hpp"
#include "daemon/space.hpp"
#include "daemon/spool.hpp"
#include "daemon/spool_at_start.hpp"
#include "daemon/start_log.hpp"
#include "daemon/supervised.hpp"
#include "net/server.hpp"
#include "platform/clock.hpp"
#include "platform/environment.hpp"
#include "platform/log.hpp"
#include "platform/process_limits.hpp"
#include "platform/procfs.hpp"
#include "platform/random.hpp"
#include "platform/version.hpp"
#include "rpc/dispatcher.hpp"
#include "rpc/feeds.hpp"
#include "rpc/owner_stopping.hpp"
#include "store/noting_store.hpp"
#include "watch/live_owners.hpp"
#include "watch/process_table.hpp"
#include "watch/process_watch.hpp"
#include "watch/timed_tree.hpp"
#include "writer/leftover_finder.hpp"
#include "writer/writer.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

constexpr auto spool_period = 30s;
/// Gives way to the threads of calls, but not to every other program of a busy host.
constexpr int feed_niceness = 5;

/// Everything a running daemon is made of, in the order it must be taken down again.
class Daemon final : public rpc::Backend, public rpc::OwnerStopping {
  public:
    Daemon(const DaemonOptions& options, Claims& claims, std::unique_ptr<Store> store,
           Readers readers, std::unique_ptr<OutputFiles> outputs, const Descriptors& descriptors)
        : options_(options),
          host_(host_name()),
          started_(read_clocks()),
          store_(std::make_unique<NotingStore>(std::move(store))),
          writer_(
              *store_, config_,
              [this](auto answers, auto events) { publish(std::move(answers), std::move(events)); },
              [this](Effect&& effect) { carry_out(std::move(effect)); },
              [this] { return background_.proven_until(watch_); }),
          reads_(std::move(readers.answers), loop_),
          feed_thread_(std::move(readers.feeds), "knell-feed", feed_niceness),
          feeds_(store_->node_id(),
                 [this](EventQuery query, const wire::Framing& framing, rpc::Feeds::Done done) {
                     read_for_feed(feed_thread_, loop_, store_->node_id(), std::move(query),
                                   framing, std::move(done));
                 }),
          dispatcher_(*this),
          clients_(descriptors.clients_max),
          hooks_max_(descriptors.hooks_max),
          server_(loop_, dispatcher_, clients_),
          http_(options_.paths, options_.http_listen, config_, loop_, dispatcher_, clients_,
                [this] { return writer_.why_failing().empty(); }),
          housekeeping_(claims, loop_, server_, [this] { delivery_->reload_soon(); }),
          delivery_reader_(std::move(readers.delivery)),
          leftovers_(process_tree_, running_.bounds(options_.paths.listen_socket, live_owners_),
                     {.settled = [this](StopOrder order) { record_fates(std::move(order)); },
                      .stopped = [this](const auto& tree) { background_.note_stopped(tree); }}),
          background_(std::move(outputs), background_dependencies(descriptors.processes_max)),
          watch_(
              processes_, descriptors.owners_max,
              {.gone =
                   [this](const auto& process, auto departure) {
                       owner_stops_.tell(process, departure);
                       writer_.observe(
                           OwnerGone{process, std::move(departure), {}, /*searched=*/false});
                   },
               .unknown = [this](const auto& process,
                                 const auto& why) { writer_.observe(OwnerUnknown{process, why}); },
               .alive = [this](const auto& process) { writer_.observe(OwnerAlive{process}); }}) {}

    Result<void> start() {
        note_place(options_.paths.state_dir + "/daemon.place", processes_);
        FinderAtStart finder(process_tree_, live_owners_, options_.paths.listen_socket);
        OpenSessionsSpool spool(options_.paths.spool_dir, *this);
        if (auto recovered = writer_.recover(processes_, finder, spool); !recovered) {
            return recovered;
        }
        delivery_.emplace(options_.paths, store_->node_id(), writer_.head_at_start(),
                          delivery_dependencies());
        if (auto recovered = delivery_->recover(); !recovered) return recovered;
        feeds_.set_newest(writer_.figures().last_seq);
        background_.sort_outputs(reads_.thread());
        if (auto serving = http_.start(); !serving) return serving;
        if (auto listening = housekeeping_.listen(); !listening) return listening;
        writer_.start();
        background_.take_up_remains(reads_.thread());
        delivery_->start();
        delivery_->wake(writer_.figures().last_seq);
        tell_of_config(config_, writer_);
        return {};
    }

    /// Serves until it is told to stop.
    void run(const Supervisor& supervisor) {
        spool_.look();
        loop_.every(spool_period, [this] { spool_.look(); });
        housekeeping_.start();
        tell_readiness(supervisor, loop_);
        loop_.run();
        supervisor.tell("STOPPING=1");
        is_over_ = true;
        http_.stop();
        if (const auto self = processes_.identify(getpid())) {
            writer_.announce_shutdown(*self, housekeeping_.why_stopped());
        }
        delivery_->stop();
        compressor_.stop();
        reads_.thread().stop();
        feed_thread_.stop();
        background_.stop();
        writer_.stop();
        housekeeping_.remove_socket();
    }

    const Writer::Figures& figures() const { return writer_.figures(); }

    void submit(Command&& it, Writer::Done done) override {
        if (auto* close = std::get_if<Close>(&it)) owner_stops_.tell(*close);
        queue(std::move(it), std::move(done));
    }
    void ask(Question&& it, Writer::Done done) override { queue(std::move(it), std::move(done)); }
    void observe(Observation&& seen) override { writer_.observe(std::move(seen)); }
    void note_named(const SessionId& session) override {
        // As many as there are reads: bounded like calls, and one more or less does not matter.
        static_cast<void>(writer_.submit(Observation{Named{session}}, [](const auto&) {}));
    }
    WallTime wall_time() const override { return read_clocks().wall; }
    std::chrono::seconds detach_window() const override {
        return config_.current()->http.detach_window;
    }
    std::chrono::seconds turn_window() const override {
        return config_.current()->http.turn_window;
    }

    void queue(Input&& input, Writer::Done done) {
        if (writer_.submit(std::move(input), std::move(done))) return;
        // Refused, so it is still ours.  NOLINTNEXTLINE(bugprone-use-after-move)
        done(fail(ErrorCode::limit, fmt::format("{} calls are waiting already; try again in a "
                                                "moment",
                                                limits::queue_commands_max)));
    }

    void read(rpc::ConnectionId asker, rpc::ReadWork work, rpc::Respond done) override {
        reads_.answer(asker, std::move(work), std::move(done));
    }
    void drop_reads(rpc::ConnectionId asker) override { reads_.drop(asker); }
    void hold_reads(rpc::ConnectionId asker, bool is_held) override { reads_.hold(asker, is_held); }

    void forgotten(std::string_view method, std::move_only_function<void()> answer) override {
        if (is_over_) return;  // what is still queued goes, and nobody waits for it
        log_error("{} was not answered, which is a bug; its caller got \"internal\"", method);
        loop_.post(std::move(answer));
    }

    rpc::Feeds& feeds() override { return feeds_; }

    void hooks(rpc::HooksCall call, rpc::Done<rpc::HooksReply> done) override {
        delivery_->ask(std::move(call), on_loop(loop_, std::move(done)));
    }

    ConfigReport check_config(const ConfigQuestion& what) const override {
        return knell::check_config(what, options_.paths, Environment::daemons);
    }

    void reload(rpc::Done<ReloadReport> done) override {
        delivery_->reload_now([this, tell = on_loop(loop_, std::move(done))](ReloadReport report) {
            loop_.post([this] { http_.look(); });  // the others ask for the config each time
            tell(std::move(report));
        });
    }

    Result<rpc::NodeStatus> node_status(Reader& reader) const override {
        return describe_node({.paths = options_.paths,
                              .host = host_,
                              .boot_id = processes_.boot_id(),
                              .store = *store_,
                              .writer = writer_,
                              .process_limits = process_limits_,
                              .started = started_,
                              .watched = watch_.counts(),
                              .watched_processes = background_.watched(),
                              .processes_max = background_.bounds().node,
                              .process_counts = process_counts_,
                              .http = http_.address(),
                              .http_listen = options_.http_listen,
                              .connections = clients_.open(),
                              .connections_max = clients_.max(),
                              .reads_queued = reads_.queued(),
                              .file_watch_trouble = delivery_->file_watch_trouble(),
                              .hook_shortage = delivery_->hook_shortage(),
                              .http_trouble = http_.trouble(),
                              .config_trouble = config_.trouble(),
                              .attachments = dispatcher_.attachment_count()},
                             reader);
    }

    rpc::SpaceView space(bool with_gateways) override { return space_.view(with_gateways); }

    void after_a_look(std::move_only_function<void()> then) override {
        auto held = std::make_shared<decltype(then)>(std::move(then));
        watch_.look_now([this, held] { loop_.post([held] { (*held)(); }); });
    }

    void stop_owner(rpc::StopOwner request, rpc::Done<rpc::OwnerStop> done) override {
        owner_stops_.stop(std::move(request), std::move(done));
    }

    void search_leftovers(const SessionId& session, pid_t caller,
                          std::optional<ProcessIdentity> reaper,
                          std::move_only_function<void(rpc::CommandEnd)> done) override {
        // A full queue must not keep a session from ending: then nobody looks.
        auto held = std::make_shared<decltype(done)>(std::move(done));
        auto run = [this, held,
                    search = CommandSearch{session, caller, std::move(reaper),
                                           options_.paths.listen_socket}](Reader& reader) {
            search.run(reader, processes_, leftovers_,
                       on_loop(loop_, [held](rpc::CommandEnd end) { (*held)(std::move(end)); }));
        };
        // Asked for by a change, which is made whether or not somebody waits for its answer.
        if (!reads_.thread().submit(rpc::ConnectionId::none, {std::move(run), {}})) (*held)({});
    }

    void sweep(bool dry_run, Ordinal after, rpc::Done<SweepReport> done) override {
        ask(Survey{after}, [this, dry_run, done = std::move(done)](Result<Reply> surveyed) mutable {
            if (!surveyed) return done(std::unexpected(std::move(surveyed.error())));
            auto look = [this, dry_run, survey = std::get<SurveyReply>(std::move(*surveyed))](
                            Reader&) -> Result<SweepReport> {
                return sweep_owners(survey, processes_, watch_, dry_run);
            };
            reads_.run(rpc::ConnectionId::none, std::move(look), std::move(done));
        });
    }

    void start_process(rpc::StartRequest request, rpc::Done<Reply> done) override {
        auto look = [id = request.draft.session_id](Reader& reader) { return reader.find(id); };
        reads_.run(rpc::ConnectionId::none, std::move(look),
                   [this, request = std::move(request),
                    done = std::move(done)](Result<std::optional<Session>> session) mutable {
                       if (!session) return done(std::unexpected(std::move(session.error())));
                       background_.start(std::move(request), *session, std::move(done));
                   });
    }
    Result<rpc::OutputPage> process_output(const rpc::OutputQuery& query) override {
        return background_.output(query);
    }
    std::optional<ActivityFacts> activity_of(const ProcessId& id) const override {
        return background_.activity_of(id);
    }
    StopState stop_state(const BackgroundProcess& process) const override {
        return background_.stop_state(process);
    }
    ProcessLimits process_bounds() const override { return background_.bounds(); }
    ProcessId new_process_id() override { return ProcessId::from_bits(random_bits().front()); }

    std::shared_ptr<const ResetPolicies> reset_policies() const override {
        return config_.current()->reset_policies;
    }
    void compress(SessionId session, Generation generation, std::string said_by,
                  rpc::Done<rpc::CompressResult> done) override {
        compressor_.compress(session, generation, std::move(said_by), std::move(done));
    }

    void stop() override { loop_.stop(); }
    std::string how_watched(const ProcessIdentity& process) const override {
        return std::string(WatchList::describe(watch_.how(process)));
    }
    const ProcessTable& processes() const override { return processes_; }
    const std::string& host() const override { return host_; }
    const std::string& node_id() const override { return store_->node_id(); }
    SessionId new_session_id() override {
        return SessionId(make_uuid7(read_clocks().wall, random_bits()));
    }

  private:
    /// On the writer's thread, after the commit.
    void carry_out(Effect&& effect) {
        std::visit([this](auto&& e) { carry_out_one(std::forward<decltype(e)>(e)); },
                   std::move(effect));
    }
    void carry_out_one(WatchOwner&& effect) {
        live_owners_.add(effect.process);
        watch_.watch(effect.process);
    }
    void carry_out_one(UnwatchOwner&& effect) {
        live_owners_.remove(effect.process);
        owner_stops_.forget(effect.process);
        watch_.unwatch(effect.process);
    }
    void carry_out_one(FindLeftovers&& effect) {
        const auto tell = [this, process = effect.process,
                           departure = effect.departure](std::vector<FoundLeftovers> found) {
            first_word_.wait({process, departure, std::move(found), /*searched=*/true});
        };
        // When nobody can look, what is known must still be said.
        if (!leftovers_.search(searches_for(effect, options_.paths.listen_socket), tell)) tell({});
    }
    void carry_out_one(WatchProcess&& effect) { background_.carry_out(std::move(effect)); }
    void carry_out_one(UnwatchProcess&& effect) { background_.carry_out(std::move(effect)); }
    void carry_out_one(OpenGate&& effect) { background_.carry_out(effect); }
    void carry_out_one(StopTree&& effect) { background_.carry_out(std::move(effect)); }
    void carry_out_one(StopLeftovers&& effect) { background_.carry_out(std::move(effect)); }
    void carry_out_one(StartCompression&& effect) { compressor_.carry_out(std::move(effect)); }

    /// With what is published next, behind the answers of that step.
    void carry_out_one(ReleaseClients&& effect) { released_.push_back(std::move(effect)); }

    /// On the thread of the leftovers.
    void record_fates(StopOrder order) {
        log_fates(order);
        writer_.observe(SettleLeftovers{std::move(order.session_id), order.generation,
                                        std::move(order.leftovers)});
    }

    BackgroundService::Dependencies background_dependencies(std::size_t held_max) {
        return {
            .table = processes_,
            .leftovers = leftovers_,
            .running = running_,
            .config = config_,
            .socket = options_.paths.listen_socket,
            .held_max = held_max,
            .observe = [this](Observation seen) { writer_.observe(std::move(seen)); },
            .post = [this](auto work) { loop_.post(std::move(work)); },
            .after = [this](auto delay, auto work) { loop_.after(delay, std::move(work)); },
            .submit = [this](Command&& it, auto done) { submit(std::move(it), std::move(done)); }};
    }

    Compressor::Dependencies compressor_dependencies() {
        return {
            .reads = reads_,
            .config = config_,
            .node = store_->node_id(),
            .directory = options_.paths.state_dir,
            .submit = [this](Command&& it,
                             rpc::Done<Reply> done) { submit(std::move(it), std::move(done)); },
            .record = [this](Observation&& seen,
                             rpc::Done<Reply> done) { queue(std::move(seen), std::move(done)); },
            .post = [this](auto work) { loop_.post(std::move(work)); },
            .new_session_id = [this] { return new_session_id(); },
            .steady = [] { return read_clocks().steady; }};
    }

    Delivery::Dependencies delivery_dependencies() {
        return {.reader = std::move(delivery_reader_),
                .save =
                    [this](std::vector<DeliveryChange> changes, auto done) {
                        writer_.submit_direct(SaveDeliveries{std::move(changes)},
                                              [done = std::move(done)](const auto& reply) mutable {
                                                  done(reply.has_value());
                                              });
                    },
                .notify =
                    [this](std::string what) {
                        writer_.observe(Announce{EventType::notice, std::move(what)});
                    },
                .config = config_,
                .hooks_max = hooks_max_};
    }

    void publish(std::vector<Writer::Answer> answers, std::vector<Event> events) {
        const auto newest = events.empty() ? 0 : events.back().seq;
        if (newest > 0) delivery_->wake(newest);
        compressor_.note_ends(events);
        process_counts_.count(events);
        // Nobody listens: destroyed here, where they were made, not on the other thread.
        if (!feeds_.has_listeners()) events = {};
        loop_.post([this, newest, answers = std::move(answers), events = std::move(events),
                    released = std::exchange(released_, {})]() mutable {
            for (auto& [done, reply] : answers) done(std::move(reply));
            if (!events.empty()) {
                feeds_.publish(events);
            } else if (newest > 0) {
                feeds_.publish_up_to(newest);
            }
            for (const auto& [session, generation] : released) {
                dispatcher_.release(session, generation);
            }
        });
    }

    const DaemonOptions options_;
    std::atomic<bool> is_over_ = false;  // the server has stopped; outlives all that holds calls
    const std::string host_;
    const Now started_;
    const std::vector<std::string> process_limits_ =
        describe_process_limits(/*with_priority=*/keeps_log_file());
    ProcTable processes_;
    const TimedTree process_tree_{std::make_shared<ProcTree>(processes_)};
    LiveOwners live_owners_;
    WatchedProcesses running_;
    const std::unique_ptr<NotingStore> store_;
    ConfigHolder config_{options_.paths.config_file};
    ProcessCounts process_counts_;
    std::vector<ReleaseClients> released_;  // the writer's thread: to be told with the next step
    Writer writer_;
    Space space_{fmt::format("{:x}", to_millis(started_.wall)), store_->node_id(), store_->notes(),
                 config_};
    ReadService reads_;
    Compressor compressor_{compressor_dependencies()};
    ReadThread feed_thread_;  // a feed a million events behind delays no listing
    rpc::Feeds feeds_;        // outlives the connections, which hold its subscribers
    rpc::Dispatcher dispatcher_;
    net::EventLoop loop_;
    net::ClientCount clients_;
    const std::size_t hooks_max_;
    net::Server server_;
    HttpService http_;
    Housekeeping housekeeping_;
    std::unique_ptr<Reader> delivery_reader_;  // until delivery_ has it
    SpoolIntake spool_{options_.paths.spool_dir, *this};
    FirstWord first_word_{loop_, processes_, spool_,
                          [this](OwnerGone gone) { writer_.observe(std::move(gone)); }};
    std::optional<Delivery> delivery_;  // made when it is known where the log stands
    OwnerStops owner_stops_{
        leftovers_,
        {.survey =
             [this](rpc::Done<Reply> done) { ask(Survey{.after = INT64_MAX}, std::move(done)); },
         .post = [this](auto work) { loop_.post(std::move(work)); }}};
    LeftoverThread leftovers_;
    BackgroundService background_;
    ProcessWatch watch_;
};

}  // namespace

int run_daemon(const DaemonOptions& options) {
    const auto& paths = options.paths;
    auto supervisor = Supervisor::from_environment();
    set_up_process(paths);
    if (options.is_strict && !is_config_right(paths)) return 1;
    if (auto mounted = check_procfs(); !mounted) return log_no_start(mounted.error());
    const auto descriptors = raise_descriptor_limit();
    if (!descriptors) return log_no_start(descriptors.error());
    if (auto made = make_directories(paths); !made) return log_no_start(made.error());
    auto claims = Claims::take(paths);  // given up last, when the store is closed
    if (!claims) return log_no_start(claims.error());
    if (auto taken = take_over_socket(supervisor, *claims); !taken)
        return log_no_start(taken.error());
    auto store = open_store(paths);
    if (!store) return log_no_start(store.error());
    claims->remember_store();
    auto readers = open_readers(**store);
    if (!readers) return log_no_start(readers.error());
    auto outputs = OutputFiles::open(paths.state_dir + "/processes");
    if (!outputs) return log_no_start(outputs.error());
    Daemon daemon(options, *claims, std::move(*store), std::move(*readers), std::move(*outputs),
                  *descriptors);
    if (auto started = daemon.start(); !started) return log_no_start(started.error());
    log_started(paths, daemon.figures());
    daemon.run(supervisor);
    log_info("knell stopped; open sessions stay on record");
    return 0;
}

}  // namespace knell
