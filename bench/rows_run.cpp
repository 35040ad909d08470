#include <array>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon_under_test.hpp"
#include "figures.hpp"
#include "lab.hpp"
#include "platform/clock.hpp"
#include "samples.hpp"
#include "victim.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t others = 1'500;
constexpr std::size_t times = 40;  // of one side, in one turn
constexpr double ratio_max = 1.3;

/// Milliseconds that one `knell run -- true` takes, from spawn to its end.
double run_once(const std::string& knell, const std::string& home) {
    setenv("KNELL_HOME", home.c_str(), /*overwrite=*/1);
    std::array<std::string, 4> words{knell, "run", "--", "true"};
    std::array<char*, 5> argv{words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                              nullptr};
    const auto began = read_clocks().steady;
    pid_t child = 0;
    if (posix_spawn(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0) {
        throw std::runtime_error("cannot start knell run");
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) throw std::runtime_error("knell run failed");
    return std::chrono::duration<double, std::milli>(read_clocks().steady - began).count();
}

}  // namespace

void measure_run(Lab& lab) {
    const auto home = lab.new_home();
    const DaemonUnderTest daemon(lab.options().knell, home->path());
    const auto take = [&](std::size_t count) {
        std::vector<double> taken;
        for (std::size_t i = 0; i < count; ++i) {
            taken.push_back(run_once(lab.options().knell, home->path()));
        }
        return percentiles_of(taken).p50;
    };
    take(times / 4);
    std::vector<double> alone;
    std::vector<double> beside;
    std::vector<double> ratios;
    for (std::size_t run = 0; run < lab.runs(); ++run) {
        alone.push_back(take(times));
        const std::vector<Victim> crowd(others);
        beside.push_back(take(times));
        ratios.push_back(beside.back() / alone.back());
    }
    const auto ratio = spread_of(ratios);
    lab.add({.name = "run",
             .what = fmt::format("`knell run -- true` beside {} other processes, to its end: p50",
                                 grouped(others)),
             .unit = "ms",
             .figure = spread_of(beside),
             .baseline = "the same beside none, taken in turns",
             .baseline_figure = spread_of(alone),
             .ratio = ratio,
             .target = "<= 1.3x",
             .met = ratio.median <= ratio_max});
}

}  // namespace knell::bench
