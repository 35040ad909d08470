#include <iterator>

#include <fmt/format.h>
#include <poll.h>

#include "calls.hpp"
#include "daemon_under_test.hpp"
#include "lab.hpp"
#include "rpc_line.hpp"
#include "sample_store.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t beats_a_call = 100;
constexpr double beats_min = 300'000;
constexpr double storm_max_s = 5;
constexpr double idle_max_percent = 2;
constexpr int storm_ttl_s = 30;

/// A heartbeat call for `beats_a_call` of `ids`, beginning with call `number`'s share.
void write_beats(const std::vector<std::string>& ids, std::size_t number, std::string& out) {
    out += R"({"sessions":[)";
    for (std::size_t i = 0; i < beats_a_call; ++i) {
        const auto& id = ids[(number * beats_a_call + i) % ids.size()];
        fmt::format_to(std::back_inserter(out), R"({}{{"session_id":"{}","generation":1}})",
                       i == 0 ? "" : ",", id);
    }
    out += "]}";
}

Load beats(const std::vector<std::string>& ids, std::size_t calls) {
    return {
        .method = "session.heartbeat",
        .calls = calls,
        .window = 8,
        .params = [&ids](std::size_t number, std::string& out) { write_beats(ids, number, out); }};
}

Load leases(std::size_t count, int ttl_s) {
    return {.method = "session.create",
            .calls = count,
            .window = 64,
            .params = [ttl_s](std::size_t, std::string& out) {
                fmt::format_to(std::back_inserter(out),
                               R"({{"source":"bench","owner":{{"lease_ttl_s":{}}}}})", ttl_s);
            }};
}

std::int64_t open_sessions(Caller& caller) {
    const auto status = caller.call("node.status", {});
    return wire::int_at(*wire::object_at(status, "sessions"), "open");
}

void wait_ms(int milliseconds) {
    poll(nullptr, 0, milliseconds);
}

}  // namespace

void measure_heartbeats(Lab& lab) {
    const auto home = lab.new_home();
    const DaemonUnderTest daemon(lab.options().knell, home->path());
    LoadClient opener(daemon.socket(), client_count);
    const auto ids = create_sessions(opener, leases(10'000, 3600));
    LoadClient client(daemon.socket(), 1);
    client.run(beats(ids, 500));  // warm-up
    std::vector<double> rates;
    const auto cpu = daemon.cpu_seconds();
    std::size_t calls = 0;
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        const auto count = lab.scaled(20'000);
        rates.push_back(client.run(beats(ids, count)).rate() * beats_a_call);
        calls += count;
    }
    const auto figure = spread_of(rates);
    const auto each =
        (daemon.cpu_seconds() - cpu) * 1e9 / static_cast<double>(calls * beats_a_call);
    lab.add({.name = "heartbeats",
             .what = "heartbeats from one connection, 100 a call",
             .unit = "/s",
             .figure = figure,
             .target = ">= 300,000/s",
             .met = figure.median >= beats_min,
             .also = {{"daemon_cpu_ns_per_beat", each}}});
}

void measure_storm(Lab& lab) {
    const auto home = lab.new_home();
    const DaemonUnderTest daemon(lab.options().knell, home->path());
    const auto due = lab.scaled(100'000);
    const auto staying = 2 * due;
    LoadClient client(daemon.socket(), client_count);
    lab.say(fmt::format("{} leases that stay, {} that will fall due together", staying, due));
    client.run(leases(staying, 3600));
    const auto ids = create_sessions(client, leases(due, storm_ttl_s));
    // Renewed together, so that they fall due together.
    const auto renewing = seconds_of([&] { client.run(beats(ids, due / beats_a_call)); });
    const auto due_from = seconds_now() - renewing + storm_ttl_s;
    const auto due_until = seconds_now() + storm_ttl_s;
    Caller caller(daemon.socket());
    while (seconds_now() < due_from - 0.1) wait_ms(20);
    while (open_sessions(caller) > static_cast<std::int64_t>(staying)) wait_ms(5);
    const auto took = seconds_now() - due_until;
    const auto left = open_sessions(caller);
    lab.add({.name = "storm",
             .what = fmt::format("{} of {} leases fall due at once: the last ended durably after",
                                 due, due + staying),
             .unit = "s",
             .figure = spread_of({took}),
             .target = "<= 5 s, none lost",
             .met = took <= storm_max_s && left == static_cast<std::int64_t>(staying),
             .also = {{"renewed_within_s", renewing}, {"left_open", static_cast<double>(left)}}});
}

void measure_idle(Lab& lab) {
    const auto count = lab.scaled(1'000'000);
    const auto home = lab.new_home();
    lab.say(fmt::format("{} live leases", count));
    make_store(home->path(), plain_session());
    fill_store_with_leases(home->path(), count);
    const DaemonUnderTest daemon(lab.options().knell, home->path());
    wait_ms(2000);
    const auto cpu = daemon.cpu_seconds();
    const auto start = seconds_now();
    wait_ms(lab.options().quick ? 3000 : 20'000);
    const auto percent = (daemon.cpu_seconds() - cpu) / (seconds_now() - start) * 100;
    lab.add({.name = "idle",
             .what = fmt::format("CPU of a daemon with {} live leases when nothing happens", count),
             .unit = "% of a core",
             .figure = spread_of({percent}),
             .target = "< 2 %",
             .met = percent < idle_max_percent,
             .also = {{"restart_s", daemon.seconds_to_answer()}}});
}

}  // namespace knell::bench
