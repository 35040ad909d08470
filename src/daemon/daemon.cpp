#include "daemon/daemon.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <memory>

#include "base/uuid.hpp"
#include "core/limits.hpp"
#include "daemon/read_thread.hpp"
#include "daemon/spool.hpp"
#include "daemon/writer.hpp"
#include "net/server.hpp"
#include "platform/clock.hpp"
#include "platform/directories.hpp"
#include "platform/lock_file.hpp"
#include "platform/log.hpp"
#include "platform/random.hpp"
#include "platform/version.hpp"
#include "rpc/dispatcher.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "watch/process_table.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t descriptors_reserved = 128;  // store, logs, hooks: never for clients
constexpr auto spool_period = 30s;

std::string host_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

/// As many descriptors as the system allows; gives how many clients that makes room for.
std::size_t raise_descriptor_limit() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    const auto descriptors = static_cast<std::size_t>(limit.rlim_cur);
    return descriptors > 2 * descriptors_reserved ? descriptors - descriptors_reserved
                                                  : descriptors / 2;
}

/// Everything a running daemon is made of, in the order it must be taken down again.
class Daemon final : public rpc::Backend {
  public:
    Daemon(const DaemonOptions& options, std::unique_ptr<Store> store,
           std::unique_ptr<Reader> reader, std::size_t connections_max)
        : options_(options),
          host_(host_name()),
          started_(read_clocks()),
          store_(std::move(store)),
          writer_(*store_, [this](auto answers) { publish(std::move(answers)); }),
          read_thread_(std::move(reader)),
          dispatcher_(*this),
          server_(dispatcher_, connections_max) {}

    Result<void> start() {
        if (auto recovered = writer_.recover(); !recovered) return recovered;
        if (auto listening = server_.listen(options_.paths.socket); !listening) return listening;
        writer_.start();
        return {};
    }

    /// Serves until it is told to stop.
    void run() {
        deliver_spool(options_.paths.spool_dir, *this);
        server_.every(spool_period, [this] { deliver_spool(options_.paths.spool_dir, *this); });
        server_.run();
        read_thread_.stop();
        writer_.stop();
        unlink(options_.paths.socket.c_str());
    }

    const Writer::Figures& figures() const { return writer_.figures(); }

    void submit(Command&& command, Writer::Done done) override {
        if (writer_.submit(std::move(command), std::move(done))) return;
        done(fail(ErrorCode::limit, fmt::format("{} calls are waiting already; try again in a "
                                                "moment", limits::queue_commands_max)));
    }

    void read(std::move_only_function<Result<Json>(Reader&)> work, rpc::Respond done) override {
        // Held here so that a full queue can still answer.
        auto held = std::make_shared<rpc::Respond>(std::move(done));
        const bool taken = read_thread_.submit(
            [this, held, work = std::move(work)](Reader& reader) mutable {
                server_.post([held, result = work(reader)]() mutable { (*held)(std::move(result)); });
            });
        if (!taken) {
            (*held)(fail(ErrorCode::limit, fmt::format("{} reads are waiting already; try again in "
                                                       "a moment", limits::queue_reads_max)));
        }
    }

    JsonObject node_status() const override;
    void stop() override { server_.stop(); }
    const ProcessTable& processes() const override { return processes_; }
    const std::string& host() const override { return host_; }
    const std::string& node_id() const override { return store_->node_id(); }
    SessionId new_session_id() override {
        return SessionId(make_uuid7(read_clocks().wall, random_bits()));
    }

  private:
    void publish(std::vector<Writer::Answer> answers) {
        server_.post([answers = std::move(answers)]() mutable {
            for (auto& [done, reply] : answers) done(std::move(reply));
        });
    }

    const DaemonOptions options_;
    const std::string host_;
    const Now started_;
    const ProcTable processes_;
    const std::unique_ptr<Store> store_;
    Writer writer_;
    ReadThread read_thread_;
    rpc::Dispatcher dispatcher_;
    net::Server server_;
};

JsonObject Daemon::node_status() const {
    const auto now = read_clocks();
    const auto facts = store_->facts();
    const auto& figures = writer_.figures();
    const auto open = figures.open.load();
    const auto running = figures.running.load();
    JsonObject status;
    status["version"] = version;
    status["commit"] = commit;
    status["pid"] = getpid();
    status["host"] = host_;
    status["node_id"] = node_id();
    status["boot_id"] = processes_.boot_id();
    status["home"] = options_.paths.state_dir;
    status["socket"] = options_.paths.socket;
    status["started_at"] = format_rfc3339(started_.wall);
    status["uptime_s"] =
        std::chrono::duration_cast<std::chrono::seconds>(now.steady - started_.steady).count();
    status["store"] = JsonObject{{"kind", facts.kind},
                                 {"path", facts.path},
                                 {"bytes", facts.bytes},
                                 {"schema", facts.schema},
                                 {"sqlite_version", facts.library}};
    status["sessions"] =
        JsonObject{{"open", open}, {"running", running}, {"idle", open - std::min(open, running)}};
    status["events"] = JsonObject{{"last_seq", figures.last_seq.load()}};
    status["journal"] = JsonObject{{"commits", figures.commits.load()},
                                   {"commands", figures.commands.load()},
                                   {"failures", figures.failures.load()},
                                   {"queued", writer_.queued()},
                                   {"queued_max", limits::queue_commands_max}};
    status["connections"] =
        JsonObject{{"open", server_.connection_count()}, {"max", server_.connections_max()}};
    return status;
}

int refuse(const Error& error) {
    log_error("knell does not start: {}", error.message);
    return 1;
}

Result<void> make_directories(const Paths& paths) {
    for (const auto* path : {&paths.state_dir, &paths.runtime_dir, &paths.spool_dir}) {
        if (auto made = make_private_directories(*path); !made) return made;
    }
    return {};
}

void say_hello(const DaemonOptions& options, const Daemon& daemon) {
    log_info("knell {} listens at {}", version, options.paths.socket);
    log_info("store {} holds {} open sessions; the last event is number {}",
             options.paths.store_file, daemon.figures().open.load(),
             daemon.figures().last_seq.load());
    log_info("try in another terminal: knell run -- sh -c 'echo hello'; then: knell ls; knell "
             "events");
}

}  // namespace

int run_daemon(const DaemonOptions& options) {
    const auto& paths = options.paths;
    std::signal(SIGPIPE, SIG_IGN);
    const auto connections_max = raise_descriptor_limit();
    if (auto made = make_directories(paths); !made) return refuse(made.error());
    const auto lock = LockFile::acquire(paths.lock_file);
    if (!lock) return refuse(lock.error());
    auto store = sqlite::open_store({.path = paths.store_file, .vfs = {}});
    if (!store) return refuse(store.error());
    auto reader = (*store)->open_reader();
    if (!reader) return refuse(reader.error());
    Daemon daemon(options, std::move(*store), std::move(*reader), connections_max);
    if (auto started = daemon.start(); !started) return refuse(started.error());
    say_hello(options, daemon);
    daemon.run();
    log_info("knell stopped; open sessions stay on record");
    return 0;
}

}  // namespace knell
