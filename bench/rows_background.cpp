#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon_under_test.hpp"
#include "end_stream.hpp"
#include "figures.hpp"
#include "follower.hpp"
#include "lab.hpp"
#include "must.hpp"
#include "platform/pidfd.hpp"
#include "platform/proc_stat.hpp"
#include "platform/small_file.hpp"
#include "rpc_line.hpp"
#include "sample_store.hpp"
#include "victim.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t warm_up = 20;
constexpr double heard_max_s = 30;
constexpr double exit_times_max = 1.2;
constexpr double crowd_times_max = 1.3;
constexpr std::size_t others_full = 100'000;

/// A named pipe that has no end while this is there, whoever else comes and goes.
class NamedPipe {
  public:
    explicit NamedPipe(std::string path) : path_(std::move(path)) {
        must(mkfifo(path_.c_str(), 0600) == 0, "mkfifo");
        fifo_ = Fd{open(path_.c_str(), O_RDWR | O_CLOEXEC)};
        must(static_cast<bool>(fifo_), "opening a named pipe");
    }

    const std::string& path() const { return path_; }
    /// Until a program writes a byte: it runs.
    void wait() const {
        pollfd look{.fd = fifo_.get(), .events = POLLIN, .revents = 0};
        char byte = 0;
        must(poll(&look, 1, static_cast<int>(heard_max_s * 1e3)) == 1, "a program did not run");
        must(read(fifo_.get(), &byte, 1) == 1, "reading a named pipe");
    }

  private:
    const std::string path_;
    Fd fifo_;
};

std::unique_ptr<TemporaryDirectory> home_with(const Lab& lab, std::size_t others) {
    auto home = lab.new_home();
    if (others == 0) return home;
    make_store(home->path(), plain_session());
    fill_store_with_leases(home->path(), others);
    return home;
}

/// One daemon, one session after the other in it, and somebody who hears of ends.
class Background {
  public:
    /// `others`: live sessions that have nothing to do with it.
    explicit Background(const Lab& lab, std::size_t others = 0)
        : home_(home_with(lab, others)),
          daemon_(lab.options().knell, home_->path()),
          caller_(daemon_.socket()),
          ends_(subscribe(daemon_.socket(), R"({"types":["session:end","process:exit"]})"),
                R"("session_id":"gone-)"),
          runs(home_->path() + "/runs"),
          stays(home_->path() + "/stays") {}

    /// A session of a process, or of a lease that lasts.
    std::string open(std::optional<pid_t> owner = {}) {
        const auto id = "gone-" + EndStream::digits_of(next_);
        const auto whose = owner ? JsonObject{{"pid", *owner}} : JsonObject{{"lease_ttl_s", 3600}};
        caller_.call("session.create", {{"id", id}, {"source", "bench"}, {"owner", whose}});
        ends_.expect(next_++, 1);
        return id;
    }
    pid_t start(const std::string& session, const std::vector<std::string>& argv) {
        JsonArray words;
        for (const auto& word : argv) words.emplace_back(word);
        const auto row =
            caller_.call("process.start", {{"session_id", session}, {"argv", std::move(words)}});
        return static_cast<pid_t>(row.at("pid").as_int64());
    }
    /// When the end of the newest session, or of its process, was heard.
    double heard() {
        ends_.read_for(heard_max_s);
        if (!ends_.is_complete()) throw Failed("a process has ended and nobody heard of it");
        return ends_.heard_at().front();
    }
    const std::string& directory() const { return home_->path(); }

  private:
    const std::unique_ptr<TemporaryDirectory> home_;
    const DaemonUnderTest daemon_;
    Caller caller_;
    EndStream ends_;
    std::size_t next_ = 0;

  public:
    const NamedPipe runs;   // is written to by what runs
    const NamedPipe stays;  // is read by what shall run until it is killed, or this process ends
};

/// A small program: writes a byte to the pipe and ends.
std::vector<std::string> says_that_it_runs(const NamedPipe& runs) {
    return {"/bin/dd", "if=/dev/zero", "of=" + runs.path(), "bs=1", "count=1", "status=none"};
}

/// Microseconds until it runs, when this process starts it itself: in a session of its own too.
double spawn_us(const NamedPipe& runs) {
    auto words = says_that_it_runs(runs);
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    pid_t child = 0;
    const auto began = seconds_now();
    errno = posix_spawn(&child, argv[0], nullptr, &attributes, argv.data(), environ);
    must(errno == 0, "posix_spawn");
    runs.wait();
    const auto took = seconds_now() - began;
    waitpid(child, nullptr, 0);
    posix_spawnattr_destroy(&attributes);
    return took * 1e6;
}

struct Started {
    double answered_us = 0;
    double runs_us = 0;
};

Started start_us(Background& background) {
    const auto session = background.open();
    const auto began = seconds_now();
    background.start(session, says_that_it_runs(background.runs));
    const auto answered = seconds_now();
    background.runs.wait();
    const auto runs = seconds_now();
    background.heard();  // nothing of it is under way when the next one is started
    return {(answered - began) * 1e6, (runs - began) * 1e6};
}

/// Until it sleeps in its own program, as an owner that is killed does: one that is still being
/// executed would have to be given the processor before it can die.
void wait_until_asleep(pid_t pid, std::string_view program) {
    for (const auto until = seconds_now() + heard_max_s; seconds_now() < until;) {
        const auto name = read_small_file(fmt::format("/proc/{}/comm", pid)).value_or("");
        const auto stat = read_proc_stat(pid);
        if (name.starts_with(program) && stat && stat->state == 'S') return;
        poll(nullptr, 0, 1);
    }
    throw Failed("a program does not run");
}

/// Microseconds from SIGKILL.
struct Heard {
    double dead_us = 0;   // until the kernel says that it is dead
    double heard_us = 0;  // until that is durable and a subscriber has it
};

Heard kill_and_hear(Background& background, pid_t pid) {
    const Fd pidfd{pidfd_open(pid, 0)};
    must(static_cast<bool>(pidfd), "pidfd_open");
    pollfd look{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
    const auto began = seconds_now();
    must(::kill(pid, SIGKILL) == 0, "kill");
    must(poll(&look, 1, static_cast<int>(heard_max_s * 1e3)) == 1, "a process does not die");
    const auto dead = seconds_now();
    return {(dead - began) * 1e6, (background.heard() - began) * 1e6};
}

Heard kill_background(Background& background) {
    const auto pid = background.start(background.open(), {"/bin/cat", background.stays.path()});
    wait_until_asleep(pid, "cat");
    return kill_and_hear(background, pid);
}

Heard kill_owner(Background& background) {
    const Victim victim;
    background.open(victim.pid());
    return kill_and_hear(background, victim.pid());
}

/// Of one side.
struct Deaths {
    std::vector<double> dead;
    std::vector<double> heard;

    void add(const Heard& one) {
        dead.push_back(one.dead_us);
        heard.push_back(one.heard_us);
    }
};

}  // namespace

void measure_background_start(Lab& lab) {
    Background background(lab);
    SyncProbe probe(background.directory());
    std::vector<double> answered;
    std::vector<double> runs;
    std::vector<double> spawned;
    std::vector<double> synced;
    for (std::size_t i = 0; i < warm_up; ++i) start_us(background);
    for (std::size_t i = 0; i < lab.scaled(500); ++i) {
        const auto started = start_us(background);
        answered.push_back(started.answered_us);
        runs.push_back(started.runs_us);
        spawned.push_back(spawn_us(background.runs));
        synced.push_back(probe.once());
    }
    const auto found = percentiles_of(runs);
    const auto spawn = percentiles_of(spawned).p50;
    const auto sync = percentiles_of(synced).p50;
    const auto add = [&](const std::string& name, const std::string& what,
                         const std::string& baseline, double baseline_us,
                         std::vector<std::pair<std::string, double>> also) {
        lab.add({.name = name,
                 .what = what,
                 .unit = "us",
                 .figure = spread_of({found.p50}),
                 .baseline = baseline,
                 .baseline_figure = spread_of({baseline_us}),
                 .ratio = spread_of({found.p50 / baseline_us}),
                 .also = std::move(also)});
    };
    add("background.start", "process.start until the program runs, its record durable before: p50",
        "posix_spawn of the same program until it runs, taken in turns: p50", spawn,
        {{"p99_us", found.p99},
         {"answered_p50_us", percentiles_of(answered).p50},
         {"fdatasync_p50_us", sync},
         {"fdatasync_share", sync / found.p50}});
    add("background.start.synced", "the same figure",
        "the same posix_spawn and one fdatasync, which is what its record costs the disk: p50",
        spawn + sync, {});
}

void measure_background_crowd(Lab& lab) {
    const auto others = lab.scaled(others_full);
    lab.say(fmt::format("{} other live sessions", grouped(others)));
    Background alone(lab);
    Background beside(lab, others);
    std::vector<double> few;
    std::vector<double> many;
    for (std::size_t i = 0; i < warm_up; ++i) {
        start_us(alone);
        start_us(beside);
    }
    for (std::size_t i = 0; i < lab.scaled(200); ++i) {
        few.push_back(start_us(alone).runs_us);
        many.push_back(start_us(beside).runs_us);
    }
    const auto found = percentiles_of(many);
    const auto baseline = percentiles_of(few);
    const auto times = found.p50 / baseline.p50;
    lab.add({.name = "background.crowd",
             .what = fmt::format("process.start until the program runs, beside {} other live "
                                 "sessions: p50",
                                 grouped(others)),
             .unit = "us",
             .figure = spread_of({found.p50}),
             .baseline = "the same in a daemon with none, taken in turns: p50",
             .baseline_figure = spread_of({baseline.p50}),
             .ratio = spread_of({times}),
             .target = "<= 1.3x",
             .met = times <= crowd_times_max,
             .also = {{"p99_us", found.p99}, {"baseline_p99_us", baseline.p99}}});
}

void measure_background_exit(Lab& lab) {
    Background background(lab);
    Deaths exits;
    Deaths owners;
    for (std::size_t i = 0; i < warm_up; ++i) {
        kill_background(background);
        kill_owner(background);
    }
    for (std::size_t i = 0; i < lab.scaled(500); ++i) {
        exits.add(kill_background(background));
        owners.add(kill_owner(background));
    }
    const auto found = percentiles_of(exits.heard);
    const auto baseline = percentiles_of(owners.heard);
    const auto times = found.p50 / baseline.p50;
    lab.add({.name = "background.exit",
             .what = "SIGKILL of a background process to its exit durable and heard: p50",
             .unit = "us",
             .figure = spread_of({found.p50}),
             .baseline = "SIGKILL of an owner to its end durable and heard, same daemon, in turns: "
                         "p50",
             .baseline_figure = spread_of({baseline.p50}),
             .ratio = spread_of({times}),
             .target = "<= 1.2x",
             .met = times <= exit_times_max,
             .also = {{"p99_us", found.p99},
                      {"baseline_p99_us", baseline.p99},
                      {"dead_p50_us", percentiles_of(exits.dead).p50},
                      {"baseline_dead_p50_us", percentiles_of(owners.dead).p50}}});
}

}  // namespace knell::bench
