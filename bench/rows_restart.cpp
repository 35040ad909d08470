#include <fmt/format.h>

#include "calls.hpp"
#include "daemon_under_test.hpp"
#include "figures.hpp"
#include "lab.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t sessions = 100'000;
constexpr double seconds_max = 2;

}  // namespace

void measure_restart(Lab& lab) {
    const auto count = lab.scaled(sessions);
    const auto home = lab.new_home();
    auto daemon = std::make_unique<DaemonUnderTest>(lab.options().knell, home->path());
    lab.say(fmt::format("opening {} sessions", grouped(count)));
    std::vector<double> seconds;
    {
        LoadClient client(daemon->socket(), client_count);
        auto load = lifelike_creates(count);
        load.window = 64;
        client.run(load);
    }
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        // So that there is a log to recover from each time.
        LoadClient(daemon->socket(), client_count).run(lifelike_creates(2'000));
        daemon->kill();
        daemon = std::make_unique<DaemonUnderTest>(lab.options().knell, home->path());
        seconds.push_back(daemon->seconds_to_answer());
    }
    const auto figure = spread_of(seconds);
    lab.add({.name = "restart",
             .what = fmt::format("after SIGKILL with {} open sessions: from exec to the answer of "
                                 "node.status",
                                 grouped(count)),
             .unit = "s",
             .figure = figure,
             .target = "< 2 s",
             .met = figure.median < seconds_max});
}

}  // namespace knell::bench
