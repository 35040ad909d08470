#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "daemon_under_test.hpp"
#include "figures.hpp"
#include "follower.hpp"
#include "lab.hpp"
#include "load_client.hpp"
#include "must.hpp"
#include "rpc_line.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t finished_full = 10'000;
constexpr std::size_t running_full = 1'000;
constexpr std::size_t connections = 16;
constexpr double bytes_max = 32;

double each(std::int64_t before, std::int64_t after, std::size_t count) {
    return static_cast<double>(after - before) / static_cast<double>(count);
}

/// A daemon with one session that may have as many processes as a node.
class Node {
  public:
    explicit Node(const Lab& lab) : knell_(lab.options().knell), home_(lab.new_home()) {
        std::ofstream(home_->path() + "/config.yaml") << "processes:\n  per_session: 4096\n";
        const auto path = home_->path() + "/stays";
        must(mkfifo(path.c_str(), 0600) == 0, "mkfifo");
        // Whoever reads it runs until this is gone.
        stays_ = Fd{open(path.c_str(), O_RDWR | O_CLOEXEC)};
        must(static_cast<bool>(stays_), "opening a named pipe");
        start();
        Caller(daemon_->socket())
            .call(
                "session.create",
                {{"id", "all"}, {"source", "bench"}, {"owner", JsonObject{{"lease_ttl_s", 3600}}}});
    }

    /// Stops the daemon and starts it afresh.
    void start() {
        if (daemon_) daemon_->stop();
        daemon_ = std::make_unique<DaemonUnderTest>(knell_, home_->path());
    }
    std::int64_t resident() const { return daemon_->memory().resident; }

    /// They run, end, and their exits are told.
    void finish(std::size_t count) { run(R"(["/bin/true"])", count, 2); }
    /// They run on.
    void keep_running(std::size_t count) {
        run(fmt::format(R"(["/bin/cat","{}/stays"])", home_->path()), count, 1);
    }

  private:
    void run(const std::string& argv, std::size_t count, std::size_t events) {
        const auto last =
            Caller(daemon_->socket()).call("node.status", {}).at("events").at("last_seq");
        Follower follower(daemon_->socket(), last.as_int64(), count * events);
        LoadClient client(daemon_->socket(), connections);
        client.run({.method = "process.start",
                    .calls = count,
                    .params = [&](std::size_t, std::string& out) {
                        fmt::format_to(std::back_inserter(out),
                                       R"({{"session_id":"all","argv":{}}})", argv);
                    }});
        follower.finish();
    }

    const std::string knell_;
    const std::unique_ptr<TemporaryDirectory> home_;
    Fd stays_;
    std::unique_ptr<DaemonUnderTest> daemon_;
};

}  // namespace

void measure_background_memory(Lab& lab) {
    const auto finished = lab.scaled(finished_full);
    const auto running = lab.scaled(running_full);
    Node node(lab);
    node.start();
    const auto none = node.resident();
    lab.say(fmt::format("{} that finish", grouped(finished)));
    node.finish(finished);
    const auto ran = each(none, node.resident(), finished);
    node.start();
    const auto afresh = node.resident();
    lab.say(fmt::format("{} that run", grouped(running)));
    node.keep_running(running);
    const auto live = each(afresh, node.resident(), running);

    const auto add = [&](const std::string& name, const std::string& what, double bytes,
                         const std::string& target, std::optional<bool> met,
                         const std::string& note) {
        lab.add({.name = name,
                 .what = what,
                 .unit = "bytes",
                 .figure = spread_of({bytes}),
                 .baseline = fmt::format("growth for each of {} that run", grouped(running)),
                 .baseline_figure = spread_of({live}),
                 .ratio = spread_of({bytes / live}),
                 .target = target,
                 .met = met,
                 .note = note});
    };
    const auto kept = each(none, afresh, finished);
    add("background.memory",
        fmt::format("growth of VmRSS for each of {} finished processes on record, daemon started "
                    "afresh",
                    grouped(finished)),
        kept, "<= 32 bytes", kept <= bytes_max, {});
    add("background.memory.ran", "the same in the daemon that ran them", ran, {}, {},
        "All of it is counted: also SQLite's page cache, at most 64 MiB, and the mapped index of "
        "its log.");
}

}  // namespace knell::bench
