#include <fmt/format.h>

#include "contender.hpp"
#include "disk.hpp"
#include "figures.hpp"
#include "lab.hpp"
#include "pictures.hpp"
#include "victim.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t others_full = 100'000;
constexpr std::size_t warm_up = 20;
constexpr double p50_max_us = 2'000;
constexpr double p99_max_us = 20'000;
constexpr double times_max = 4;

/// From SIGKILL of an owner until a subscriber has its end: durable, because subscribers hear only
/// what is committed.
void measure_beside(Lab& lab, std::size_t others) {
    if (others > 0) lab.say(fmt::format("{} other live sessions", grouped(others)));
    const auto knell = knell_by_pidfd(lab, others);
    const auto home = lab.new_home();
    SyncProbe probe(home->path());
    std::vector<double> deaths;
    std::vector<double> floor;
    const auto count = lab.scaled(500);
    knell->lose_singly(warm_up);
    for (std::size_t i = 0; i < count; ++i) {
        deaths.push_back(knell->lose_singly(1).seconds.front());
        floor.push_back((pidfd_wake_up_us() + probe.once()) * 1e-6);
    }
    const auto found = percentiles_of(deaths);
    const auto physical = percentiles_of(floor);
    const auto times = found.p50 / physical.p50;
    lab.add({.name = fmt::format("death.{}", others),
             .what = fmt::format("SIGKILL of an owner to its end durable and heard, beside {} "
                                 "other live sessions: p50",
                                 grouped(others)),
             .unit = "us",
             .figure = spread_of({found.p50 * 1e6}),
             .baseline = "one pidfd wake-up and one fdatasync, taken in turns: p50",
             .baseline_figure = spread_of({physical.p50 * 1e6}),
             .ratio = spread_of({times}),
             .target = "<= 4x; p50 <= 2 ms, p99 <= 20 ms",
             .met = times <= times_max && found.p50 * 1e6 <= p50_max_us &&
                    found.p99 * 1e6 <= p99_max_us,
             .also = {{"p99_us", found.p99 * 1e6},
                      {"max_us", found.max * 1e6},
                      {"baseline_p99_us", physical.p99 * 1e6}}});
    if (others > 0) return;
    lab.keep(kept::death, std::move(deaths));
    lab.keep(kept::death_floor, std::move(floor));
}

}  // namespace

void measure_death(Lab& lab) {
    measure_beside(lab, 0);
    measure_beside(lab, lab.scaled(others_full));
}

}  // namespace knell::bench
