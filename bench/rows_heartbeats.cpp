#include <iterator>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "calls.hpp"
#include "daemon_under_test.hpp"
#include "lab.hpp"
#include "must.hpp"
#include "peer_process.hpp"
#include "reaper_store.hpp"
#include "redis_server.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t owners = 10'000;
constexpr int an_hour_s = 3600;
constexpr double rate_min = 300'000;
constexpr int settle_ms = 2'000;  // for what is written behind
constexpr double reaper_seconds_max = 3;

/// Beats a second in each run, and what reached the disk.
struct Beats {
    std::vector<double> rates;
    std::size_t count = 0;
    std::int64_t disk_bytes = 0;
    double cpu_seconds = 0;

    double disk_bytes_a_million() const {
        return static_cast<double>(disk_bytes) * 1e6 / static_cast<double>(count);
    }
};

Beats knell_beats(Lab& lab) {
    const auto home = lab.new_home();
    const DaemonUnderTest daemon(lab.options().knell, home->path());
    LoadClient opener(daemon.socket(), client_count);
    const auto ids = create_sessions(opener, lease_creates(owners, an_hour_s));
    LoadClient client(daemon.socket(), 1);
    client.run(beats(ids, 500));  // warm-up
    poll(nullptr, 0, settle_ms);  // what the creates left behind is not the beats' doing
    Beats result;
    const auto bytes = disk_bytes_of(daemon.pid());
    const auto cpu = daemon.cpu_seconds();
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        const auto calls = lab.scaled(20'000);
        result.rates.push_back(client.run(beats(ids, calls)).rate() * beats_a_call);
        result.count += calls * beats_a_call;
    }
    result.cpu_seconds = daemon.cpu_seconds() - cpu;
    poll(nullptr, 0, settle_ms);
    result.disk_bytes = disk_bytes_of(daemon.pid()) - bytes;
    return result;
}

/// PEXPIRE, 100 in a pipeline and eight pipelines under way, like knell's calls.
Beats redis_beats(Lab& lab) {
    constexpr std::size_t pipelines = 8;
    const RedisServer server(lab);
    LoopbackStream stream(redis_port);
    std::string commands;
    for (std::size_t i = 0; i < owners; ++i) {
        fmt::format_to(std::back_inserter(commands), "SET s:{} x PX 3600000\r\n", i);
    }
    stream.send(commands);
    for (std::size_t i = 0; i < owners; ++i) stream.read_line();
    Beats result;
    std::size_t next = 0;
    const auto send_some = [&] {
        commands.clear();
        for (std::size_t i = 0; i < beats_a_call; ++i) {
            fmt::format_to(std::back_inserter(commands), "PEXPIRE s:{} 3600000\r\n",
                           next++ % owners);
        }
        stream.send(commands);
    };
    const auto bytes = disk_bytes_of(server.pid());
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        const auto calls = lab.scaled(2'000);
        const auto seconds = seconds_of([&] {
            for (std::size_t call = 0; call < calls + pipelines; ++call) {
                if (call < calls) send_some();
                if (call < pipelines) continue;
                for (std::size_t i = 0; i < beats_a_call; ++i) stream.read_line();
            }
        });
        result.rates.push_back(static_cast<double>(calls * beats_a_call) / seconds);
        result.count += calls * beats_a_call;
    }
    poll(nullptr, 0, settle_ms);
    result.disk_bytes = disk_bytes_of(server.pid()) - bytes;
    return result;
}

Beats reaper_beats(Lab& lab) {
    ReaperStore store(lab, 0);
    const auto first = store.open(owners, 0);
    Beats result;
    const auto bytes = disk_bytes_of(getpid());
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        const auto start = seconds_now();
        std::size_t count = 0;
        while (count < lab.scaled(20'000) && seconds_now() - start < reaper_seconds_max) {
            const auto beat = static_cast<std::int64_t>(result.count++);
            // A later time on every beat: SQLite does not write a value that is there already.
            store.beat(first + beat % std::int64_t{owners}, beat + 1);
            ++count;
        }
        result.rates.push_back(static_cast<double>(count) / (seconds_now() - start));
    }
    result.disk_bytes = disk_bytes_of(getpid()) - bytes;
    return result;
}

Row compared(const char* name, const char* what, const char* baseline, const Beats& ours,
             const Beats& theirs) {
    return {.name = name,
            .what = what,
            .unit = "/s",
            .figure = spread_of(ours.rates),
            .baseline = baseline,
            .baseline_figure = spread_of(theirs.rates),
            .ratio = spread_of(ratios(ours.rates, theirs.rates)),
            .also = {{"disk_bytes_a_million", ours.disk_bytes_a_million()},
                     {"baseline_disk_bytes_a_million", theirs.disk_bytes_a_million()}}};
}

}  // namespace

void measure_heartbeats(Lab& lab) {
    lab.say("knell");
    const auto ours = knell_beats(lab);
    lab.say("one UPDATE a beat");
    auto row = compared("heartbeats", "heartbeats from one connection, 100 a call, 10,000 owners",
                        "a column in SQLite, one transaction a beat", ours, reaper_beats(lab));
    row.target = ">= 300,000/s";
    row.met = row.figure.median >= rate_min;
    row.also.emplace_back("daemon_cpu_ns_per_beat",
                          ours.cpu_seconds * 1e9 / static_cast<double>(ours.count));
    lab.add(std::move(row));
    if (!is_installed("redis-server")) return;
    lab.say("Redis");
    lab.add(compared("heartbeats.redis", "the same figure",
                     "Redis: PEXPIRE, 100 in a pipeline, eight under way, appendfsync always", ours,
                     redis_beats(lab)));
}

}  // namespace knell::bench
