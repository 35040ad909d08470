#include <fmt/format.h>
#include <poll.h>

#include "calls.hpp"
#include "daemon_under_test.hpp"
#include "figures.hpp"
#include "lab.hpp"
#include "rpc_line.hpp"
#include "sample_store.hpp"

namespace knell::bench {

namespace {

constexpr double storm_max_s = 5;
constexpr double idle_max_percent = 1;
constexpr int storm_ttl_s = 30;

std::int64_t open_sessions(Caller& caller) {
    const auto status = caller.call("node.status", {});
    return wire::int_at(*wire::object_at(status, "sessions"), "open");
}

void wait_ms(int milliseconds) {
    poll(nullptr, 0, milliseconds);
}

}  // namespace

void measure_storm(Lab& lab) {
    const auto home = lab.new_home();
    const DaemonUnderTest daemon(lab.options().knell, home->path());
    const auto due = lab.scaled(100'000);
    const auto staying = 2 * due;
    LoadClient client(daemon.socket(), client_count);
    lab.say(fmt::format("{} leases that stay, {} that will fall due together", staying, due));
    client.run(lease_creates(staying, 3600));
    const auto ids = create_sessions(client, lease_creates(due, storm_ttl_s));
    // Renewed together, so that they fall due together.
    const auto renewing = seconds_of([&] { client.run(beats(ids, due / beats_a_call)); });
    const auto due_from = seconds_now() - renewing + storm_ttl_s;
    const auto due_until = seconds_now() + storm_ttl_s;
    Caller caller(daemon.socket());
    while (seconds_now() < due_from - 0.1) wait_ms(20);
    while (open_sessions(caller) > static_cast<std::int64_t>(staying)) wait_ms(5);
    const auto took = seconds_now() - due_until;
    const auto left = open_sessions(caller);
    lab.add(
        Row{.name = "storm",
            .what = fmt::format("{} of {} leases fall due at once: the last ended durably after",
                                grouped(due), grouped(due + staying)),
            .unit = "s",
            .figure = spread_of({took}),
            .target = "<= 5 s, none lost",
            .met = took <= storm_max_s && left == static_cast<std::int64_t>(staying),
            .also = {{"renewed_within_s", renewing}, {"left_open", static_cast<double>(left)}}});
}

void measure_idle(Lab& lab) {
    const auto count = lab.scaled(1'000'000);
    const auto home = lab.new_home();
    lab.say(fmt::format("{} live leases", grouped(count)));
    make_store(home->path(), plain_session());
    fill_store_with_leases(home->path(), count);
    const DaemonUnderTest daemon(lab.options().knell, home->path());
    wait_ms(2000);
    const auto cpu = daemon.cpu_seconds();
    const auto start = seconds_now();
    wait_ms(lab.options().quick ? 3000 : 20'000);
    const auto percent = (daemon.cpu_seconds() - cpu) / (seconds_now() - start) * 100;
    lab.add(Row{.name = "idle",
                .what = fmt::format("CPU of a daemon with {} live leases when nothing happens",
                                    grouped(count)),
                .unit = "% of a core",
                .figure = spread_of({percent}),
                .target = "< 1 %",
                .met = percent < idle_max_percent,
                .also = {{"restart_s", daemon.seconds_to_answer()}}});
}

}  // namespace knell::bench
