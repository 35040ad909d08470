#include <fmt/format.h>

#include "calls.hpp"
#include "daemon_under_test.hpp"
#include "lab.hpp"
#include "rpc_line.hpp"
#include "sample_store.hpp"
#include "victim.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t others_full = 100'000;
constexpr double p50_max_us = 2'000;
constexpr double p99_max_us = 20'000;

/// From SIGKILL of an owner until a reader of the event log has its end: durable, because the log
/// shows only what is committed.  The reader asks again and again; that round trip is included.
double death_us(Caller& caller, const std::string& id) {
    const Victim victim;
    caller.call("session.create",
                {{"id", id}, {"source", "bench"}, {"owner", JsonObject{{"pid", victim.pid()}}}});
    const auto after =
        wire::int_at(caller.call("events.read", {{"after", 0}, {"session_id", id}}), "next");
    const auto start = seconds_now();
    victim.kill();
    for (;;) {
        const auto page = caller.call("events.read", {{"after", after}, {"limit", 1}});
        const auto* events = wire::array_at(page, "events");
        if (events != nullptr && !events->empty()) {
            const auto& event = events->front().as_object();
            if (wire::text_at(event, "type") != "session:end" ||
                wire::text_at(event, "reason") != "signaled") {
                throw Failed("not the end that was expected: " + wire::to_text(event));
            }
            return (seconds_now() - start) * 1e6;
        }
    }
}

void measure_beside(Lab& lab, std::size_t others) {
    const auto home = lab.new_home();
    if (others > 0) {
        lab.say(fmt::format("{} other live sessions", others));
        make_store(home->path(), plain_session());
        fill_store_with_leases(home->path(), others);
    }
    const DaemonUnderTest daemon(lab.options().knell, home->path());
    Caller caller(daemon.socket());
    SyncProbe probe(home->path());
    std::vector<double> deaths;
    std::vector<double> floor;
    const auto count = lab.scaled(500);
    for (std::size_t i = 0; i < count + 20; ++i) {
        const auto took = death_us(caller, fmt::format("death-{}", i));
        const auto limit = pidfd_wake_up_us() + probe.once();
        if (i < 20) continue;  // warm-up
        deaths.push_back(took);
        floor.push_back(limit);
    }
    const auto found = percentiles_of(deaths);
    const auto physical = percentiles_of(floor);
    lab.add({.name = fmt::format("death.{}", others),
             .what = fmt::format("SIGKILL of an owner to its end durable and read, beside {} other "
                                 "live sessions: p50",
                                 others),
             .unit = "us",
             .figure = spread_of({found.p50}),
             .baseline = "one pidfd wake-up and one fdatasync, taken in turns: p50",
             .baseline_figure = spread_of({physical.p50}),
             .ratio = spread_of({found.p50 / physical.p50}),
             .target = "p50 <= 2 ms, p99 <= 20 ms",
             .met = found.p50 <= p50_max_us && found.p99 <= p99_max_us,
             .also = {
                 {"p99_us", found.p99}, {"max_us", found.max}, {"baseline_p99_us", physical.p99}}});
}

}  // namespace

void measure_death(Lab& lab) {
    measure_beside(lab, 0);
    measure_beside(lab, lab.scaled(others_full));
}

}  // namespace knell::bench
