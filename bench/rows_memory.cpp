#include <fmt/format.h>

#include "calls.hpp"
#include "daemon_under_test.hpp"
#include "figures.hpp"
#include "lab.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t sessions = 1'000'000;
constexpr double bytes_max = 400;

double each(std::int64_t before, std::int64_t after, std::size_t count) {
    return static_cast<double>(after - before) / static_cast<double>(count);
}

}  // namespace

void measure_memory(Lab& lab) {
    const auto count = lab.scaled(sessions);
    const auto home = lab.new_home();
    auto daemon = std::make_unique<DaemonUnderTest>(lab.options().knell, home->path());
    const auto before = daemon->memory();
    {
        lab.say(fmt::format("opening {} sessions", grouped(count)));
        LoadClient client(daemon->socket(), client_count);
        auto load = lifelike_creates(count);
        load.window = 64;
        client.run(load);
    }
    const auto after = daemon->memory();
    daemon->stop();
    daemon = std::make_unique<DaemonUnderTest>(lab.options().knell, home->path());
    const auto restarted = daemon->memory();

    const auto resident = each(before.resident, after.resident, count);
    lab.add({.name = "memory",
             .what = fmt::format("growth of VmRSS for each of {} open sessions, created over RPC",
                                 grouped(count)),
             .unit = "bytes",
             .figure = spread_of({resident}),
             .target = "<= 400 bytes",
             .met = resident <= bytes_max,
             .note = "All of it is counted: also SQLite's page cache, at most 64 MiB, and the "
                     "mapped index of its log.",
             .also = {{"anonymous", each(before.anonymous, after.anonymous, count)},
                      {"proportional", each(before.proportional, after.proportional, count)},
                      {"after_restart", each(before.resident, restarted.resident, count)},
                      {"restart_s", daemon->seconds_to_answer()}}});
}

}  // namespace knell::bench
