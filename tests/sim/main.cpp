// The simulator's command line.  See docs/testing.md.

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "platform/clock.hpp"
#include "run.hpp"

namespace knell::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view usage =
    "knell_sim [--seeds A..B] [--seconds N] [--seed N] [--coverage] [--trace] [--quick]\n"
    "  --seeds A..B   run these\n"
    "  --seconds N    then fresh ones until so much time is over\n"
    "  --seed N       run this one alone, and tell what happens in it when it fails\n"
    "  --trace        tell it in any case\n"
    "  --quick        say only what is broken and in which run\n"
    "  --coverage     print the transition tables; fail when a cell was not reached\n";

constexpr auto shrink_time = 15s;
/// Each of the first runs is run twice, to see that it is the same run.
constexpr std::uint64_t repeated_runs = 5;

struct Options {
    std::uint64_t first = 1;
    std::uint64_t last = 0;
    std::chrono::seconds time{0};
    bool trace = false;
    bool quick = false;
    bool coverage = false;
};

bool read_number(std::string_view text, std::uint64_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size();
}

bool read_options(int count, char** words, Options& options) {
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        const std::string_view value = i + 1 < count ? words[i + 1] : "";
        std::uint64_t number = 0;
        if (word == "--trace") {
            options.trace = true;
        } else if (word == "--quick") {
            options.quick = true;
        } else if (word == "--coverage") {
            options.coverage = true;
        } else if (word == "--seed" && read_number(value, number)) {
            options.first = options.last = number;
            ++i;
        } else if (word == "--seconds" && read_number(value, number)) {
            options.time = std::chrono::seconds{number};
            ++i;
        } else if (word == "--seeds") {
            const auto dots = value.find("..");
            if (dots == std::string_view::npos) return false;
            if (!read_number(value.substr(0, dots), options.first)) return false;
            if (!read_number(value.substr(dots + 2), options.last)) return false;
            ++i;
        } else {
            return false;
        }
    }
    return options.last >= options.first || options.time > 0s;
}

/// A broken invariant of the code under test ends the process: say at least in which run.
volatile std::uint64_t running = 0;
void on_abort(int) {
    char text[160] = "\nbroken: an invariant of the code itself\nseed: ";
    auto* end = std::to_chars(text + std::strlen(text), text + 150, running).ptr;
    *end++ = '\n';
    [[maybe_unused]] const auto written =
        write(STDOUT_FILENO, text, static_cast<std::size_t>(end - text));
    _exit(1);
}

class Simulator {
  public:
    explicit Simulator(const Options& options) : options_(options), started_(read_clocks()) {}

    int run_all() {
        for (auto seed = options_.first; seed <= options_.last; ++seed) {
            if (!run_one(seed)) return 1;
        }
        const auto fresh = static_cast<std::uint64_t>(to_millis(started_.wall)) * 1000;
        if (options_.time > 0s) fmt::print("fresh seeds from {}\n", fresh);
        for (std::uint64_t i = 0; elapsed() < options_.time; ++i) {
            if (!run_one(fresh + i)) return 1;
        }
        return report();
    }

  private:
    std::chrono::nanoseconds elapsed() const { return read_clocks().steady - started_.steady; }

    bool run_one(std::uint64_t seed) {
        running = seed;
        const auto actions = actions_of(seed);
        std::vector<std::string> trace;
        const auto result = run(seed, actions, options_.trace ? &trace : nullptr);
        for (const auto& line : trace) fmt::print("{}\n", line);
        coverage_.add(result.coverage);
        ++runs_;
        actions_ += result.actions;
        if (result.broken) return tell(seed, actions, *result.broken);
        if (runs_ > repeated_runs || run(seed, actions).digest == result.digest) return true;
        fmt::print("broken: the same seed gives the same run\nseed: {}\n", seed);
        return false;
    }

    bool tell(std::uint64_t seed, const std::vector<Action>& actions, const Broken& broken) {
        fmt::print("broken: {}\n  {}\nseed: {}\n", broken.promise, broken.what, seed);
        std::fflush(stdout);
        if (options_.quick) return false;
        const auto until = elapsed() + shrink_time;
        const auto fewer = shrink(seed, actions, broken.promise, [&] { return elapsed() < until; });
        std::vector<std::string> trace;
        const auto result = run(seed, fewer, &trace);
        fmt::print("the shortest way there that was found ({} of {} actions):\n", fewer.size(),
                   actions.size());
        for (const auto& line : trace) fmt::print("{}\n", line);
        if (result.broken) fmt::print("  {}\n", result.broken->what);
        fmt::print("replay: ./scripts/sim --seed {}\n", seed);
        return false;
    }

    int report() const {
        const auto seconds = static_cast<double>(elapsed() / 1ms) / 1000;
        fmt::print("{} runs, {} actions in {:.1f} s ({:.0f} runs a minute); every promise kept\n",
                   runs_, actions_, seconds, static_cast<double>(runs_) * 60 / seconds);
        if (!options_.coverage) return 0;
        fmt::print("{}", coverage_.report());
        const auto missing = coverage_.missing();
        fmt::print("{} cells of the transition tables were not reached\n", missing);
        return missing == 0 ? 0 : 1;
    }

    const Options options_;
    const Now started_;
    Coverage coverage_;
    std::size_t runs_ = 0;
    std::size_t actions_ = 0;
};

}  // namespace
}  // namespace knell::sim

int main(int count, char** words) {
    knell::sim::Options options;
    if (!knell::sim::read_options(count, words, options)) {
        fmt::print(stderr, "{}", knell::sim::usage);
        return 2;
    }
    std::signal(SIGABRT, knell::sim::on_abort);
    return knell::sim::Simulator(options).run_all();
}
