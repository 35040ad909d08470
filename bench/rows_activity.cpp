#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "activity/proc_source.hpp"
#include "activity/sampler.hpp"
#include "daemon_under_test.hpp"
#include "figures.hpp"
#include "lab.hpp"
#include "must.hpp"
#include "platform/fd.hpp"
#include "platform/proc_stat.hpp"
#include "rpc_line.hpp"

namespace knell::bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t trees_full = 1'000;
constexpr double percent_max = 2;
constexpr auto pass_every = ActivitySampler::busy_every;

double own_cpu_seconds() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

/// A process that listens, with a child; both do nothing until they are killed.
class IdleTree {
  public:
    IdleTree() {
        int ready[2];
        must(pipe(ready) == 0, "pipe");
        const Fd read_end(ready[0]);
        Fd write_end(ready[1]);
        pid_ = fork();
        must(pid_ >= 0, "fork");
        if (pid_ == 0) become_tree(write_end.get());
        write_end.reset();
        char byte = 0;
        must(read(read_end.get(), &byte, 1) == 1, "a process tree did not start");
    }
    ~IdleTree() {
        ::kill(pid_, SIGKILL);  // its child follows
        waitpid(pid_, nullptr, 0);
    }
    IdleTree(const IdleTree&) = delete;
    IdleTree& operator=(const IdleTree&) = delete;

    pid_t pid() const { return pid_; }

  private:
    [[noreturn]] static void become_tree(int ready) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int listener = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const bool listens =
            bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
            listen(listener, 1) == 0;
        const pid_t child = fork();
        if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (child > 0 && listens && write(ready, "", 1) != 1) _exit(1);
        if (child < 0 || !listens) _exit(1);
        close(ready);
        for (;;) pause();
    }

    pid_t pid_ = -1;
};

/// Counts the looks.
class CountingSource final : public SampleSource {
  public:
    explicit CountingSource(const ProcessTable& table) : source_(table) {}
    void begin_round(SteadyTime now) override { source_.begin_round(now); }
    TreeSample look(const ProcessIdentity& process, SteadyTime now) override {
        ++looks;
        return source_.look(process, now);
    }
    void forget(const ProcessIdentity& process) override { source_.forget(process); }

    std::size_t looks = 0;

  private:
    ProcSource source_;
};

/// Runs a sampler on a clock that does not wait.
class FastSampler {
  public:
    FastSampler(const ProcessTable& table, const std::vector<std::unique_ptr<IdleTree>>& trees)
        : source_(table), sampler_(source_) {
        for (const auto& tree : trees) {
            const auto process = table.identify(tree->pid());
            must(process.has_value(), "a process tree has ended");
            sampler_.add(process_id_of(*process), *process,
                         {.activity = ProcessActivity::working, .since = now_.wall});
            last_ = process_id_of(*process);
        }
    }

    struct Cost {
        double percent = 0;  // of a core
        double looks = 0;    // a second, at a tree each
    };
    Cost run(std::chrono::seconds duration) {
        const auto end = now_.steady + duration;
        source_.looks = 0;
        const auto before = own_cpu_seconds();
        for (auto next = sampler_.next_step(); next && *next < end; next = sampler_.next_step()) {
            set_clock(*next);
            sampler_.step(now_);
        }
        set_clock(end);
        const auto seconds = std::chrono::duration<double>(duration).count();
        return {.percent = (own_cpu_seconds() - before) / seconds * 100,
                .looks = static_cast<double>(source_.looks) / seconds};
    }
    bool all_listen() const {
        const auto facts = sampler_.facts(last_);
        return facts && facts->activity == ProcessActivity::listening;
    }

  private:
    void set_clock(SteadyTime time) {
        if (time < now_.steady) return;
        now_.wall += std::chrono::floor<std::chrono::milliseconds>(time - now_.steady);
        now_.steady = now_.boot = time;
    }

    CountingSource source_;
    ActivitySampler sampler_;
    Now now_{.wall = from_millis(0), .steady = SteadyTime{1h}, .boot = SteadyTime{1h}};
    ProcessId last_;
};

/// What a look at every process there is costs, as `top` takes it: only its stat.
double pass_percent() {
    const auto before = own_cpu_seconds();
    std::size_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const auto name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        if (read_proc_stat(std::stoi(name))) ++found;
    }
    must(found > 0, "/proc is empty");
    return (own_cpu_seconds() - before) / std::chrono::duration<double>(pass_every).count() * 100;
}

using Trees = std::vector<std::unique_ptr<IdleTree>>;

/// A daemon in which they are on record, in time as it is: what the sampler's steps cost when a
/// tenth of a second lies between them, and what else the daemon does with what they find.
struct RealDaemon {
    explicit RealDaemon(const Lab& lab)
        : home(lab.new_home()),
          daemon(lab.options().knell, with_config(home->path())),
          caller(daemon.socket()),
          seconds(lab.options().quick ? 5 : 20) {
        caller.call(
            "session.create",
            {{"id", "trees"}, {"source", "bench"}, {"owner", JsonObject{{"pid", getpid()}}}});
    }
    void add(const Trees& trees) {
        for (const auto& tree : trees) {
            caller.call("process.register", {{"session_id", "trees"}, {"pid", tree->pid()}});
        }
    }
    double percent() const {
        const auto before = daemon.cpu_seconds();
        const auto start = seconds_now();
        poll(nullptr, 0, seconds * 1000);
        return (daemon.cpu_seconds() - before) / (seconds_now() - start) * 100;
    }

    const std::unique_ptr<TemporaryDirectory> home;
    const DaemonUnderTest daemon;
    Caller caller;
    const int seconds;

  private:
    static std::string with_config(const std::string& home) {
        std::ofstream(home + "/config.yaml") << "processes:\n  per_session: 4096\n";
        return home;
    }
};

void measure_real_daemon(Lab& lab, const Trees& trees) {
    RealDaemon real(lab);
    const auto without = real.percent();
    real.add(trees);
    const auto with = real.percent();
    lab.add({.name = "sampling.daemon",
             .what = fmt::format("{} process trees, busy: CPU of a real daemon, all of it",
                                 grouped(trees.size())),
             .unit = "% of a core",
             .figure = spread_of({with}),
             .baseline = "the same daemon before they were on record",
             .baseline_figure = spread_of({without}),
             .ratio = spread_of({with / without}),
             .target = "< 2 %",
             .met = with < percent_max,
             .also = {{"seconds", static_cast<double>(real.seconds)}}});
}

}  // namespace

void measure_sampling(Lab& lab) {
    const auto count = lab.scaled(trees_full);
    Trees trees;
    while (trees.size() < count) trees.push_back(std::make_unique<IdleTree>());
    const ProcTable table;
    struct Costs {
        std::vector<double> percent;
        std::vector<double> looks;
        void add(const FastSampler::Cost& cost) {
            percent.push_back(cost.percent);
            looks.push_back(cost.looks);
        }
    };
    Costs busy;
    Costs idle;
    std::vector<double> passes;
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        FastSampler sampler(table, trees);
        busy.add(sampler.run(60s));
        sampler.run(10min);
        if (!sampler.all_listen()) throw Failed("an idle server was not found to be one");
        idle.add(sampler.run(5min));
        passes.push_back(pass_percent());
    }
    const auto add = [&](const std::string& name, const std::string& what, const Costs& costs) {
        const auto figure = spread_of(costs.percent);
        const auto every = static_cast<double>(count) / spread_of(costs.looks).median;
        lab.add({.name = name,
                 .what = fmt::format("{} process trees, {}: looking at what they do",
                                     grouped(count), what),
                 .unit = "% of a core",
                 .figure = figure,
                 .baseline = "the stat of every process, every 2 s",
                 .baseline_figure = spread_of(passes),
                 .ratio = spread_of(ratios(costs.percent, passes)),
                 .target = "< 2 %",
                 .met = figure.median < percent_max,
                 .note = fmt::format("each is looked at every {} s", number(every)),
                 .also = {{"every_s", every}}});
    };
    add("sampling.busy", "busy", busy);
    add("sampling.idle", "idle", idle);
    measure_real_daemon(lab, trees);
}

}  // namespace knell::bench
