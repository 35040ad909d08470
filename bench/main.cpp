#include <algorithm>
#include <array>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "lab.hpp"
#include "machine.hpp"
#include "markdown.hpp"
#include "must.hpp"
#include "pictures.hpp"

namespace knell::bench {

namespace {

constexpr std::array benchmarks{
    Benchmark{Chapter::limits, "limits", "what disk, kernel and sockets cost", measure_limits},
    Benchmark{Chapter::sessions, "create", "creates a second", measure_create},
    Benchmark{Chapter::sessions, "create.one", "one create alone", measure_create_one},
    Benchmark{Chapter::sessions, "calls", "show, append and close a second", measure_calls},
    Benchmark{Chapter::sessions, "routes", "messages for keys a second", measure_routes},
    Benchmark{Chapter::sessions, "run", "a command beside 1,500 processes", measure_run},
    Benchmark{Chapter::processes, "background.start", "from process.start to a program that runs",
              measure_background_start},
    Benchmark{Chapter::processes, "background.crowd", "the same beside 100,000 live sessions",
              measure_background_crowd},
    Benchmark{Chapter::processes, "background.exit", "a background process is killed",
              measure_background_exit},
    Benchmark{Chapter::processes, "background.memory", "10,000 finished, 1,000 running",
              measure_background_memory},
    Benchmark{Chapter::processes, "sampling", "what 1,000 process trees do", measure_sampling},
    Benchmark{Chapter::size, "memory", "a million open sessions", measure_memory},
    Benchmark{Chapter::size, "restart", "100,000 open sessions after SIGKILL", measure_restart},
    Benchmark{Chapter::size, "idle", "a million leases and nothing to do", measure_idle},
    Benchmark{Chapter::size, "idle.keys", "a million keys under policies and nothing to do",
              measure_idle_keys},
    Benchmark{Chapter::gone, "death", "an owner is killed", measure_death},
    Benchmark{Chapter::gone, "gone", "owners go, beside etcd, Redis and a reaper", measure_gone},
    Benchmark{Chapter::leases, "heartbeats", "signs of life a second", measure_heartbeats},
    Benchmark{Chapter::leases, "tool_reports", "reports of tools' calls a second",
              measure_tool_reports},
    Benchmark{Chapter::leases, "storm", "many leases fall due at once", measure_storm},
    Benchmark{Chapter::events, "feed.lag", "from a commit to a follower", measure_feed_lag},
    Benchmark{Chapter::events, "feed.live", "events a second, three followers", measure_feed_live},
    Benchmark{Chapter::events, "feed.behind", "a million events behind", measure_feed_behind},
    Benchmark{Chapter::growth, "growth", "from 1,000 to 1,000,000 sessions", measure_growth},
    Benchmark{Chapter::listing, "list", "listing a million ended sessions", measure_list},
    Benchmark{Chapter::listing, "list.behind", "what lies behind a million folded ones",
              measure_list_behind},
    Benchmark{Chapter::listing, "search", "appends beside the index, and searches", measure_search},
    Benchmark{Chapter::web, "web.idle", "15,000 WebSocket clients", measure_web_idle},
    Benchmark{Chapter::web, "web.calls", "small calls over WebSocket", measure_web_calls},
    Benchmark{Chapter::web, "web.fanout", "one event to 5,000 followers", measure_web_fanout},
    Benchmark{Chapter::web, "web.cut", "a client is cut off", measure_web_cut},
    Benchmark{Chapter::web, "web.silent", "a client falls silent", measure_web_silent},
    Benchmark{Chapter::web, "web.picture", "what is live among 10,000", measure_picture},
};

constexpr std::size_t syncs_around = 1'000;

/// Ctrl-C: the call that waits fails, and with it the benchmark; daemon and files go as always.
volatile std::sig_atomic_t interrupted = 0;

void interrupt_on_signals() {
    struct sigaction action{};
    action.sa_handler = [](int) { interrupted = 1; };
    for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

constexpr auto usage = R"(usage: knell_bench [options]
  --only NAME   one benchmark, from the list below
  --quick       a tenth of the size: shows that it works, not how fast it is
  --out FILE    also write the figures as JSON
  --docs DIR    also write DIR/benchmarks.md and its plots, from this run alone
  --knell PATH  the program to measure; default: the one built beside this
  --dir PATH    where to keep the stores: on a disk, not in memory; default: $TMPDIR, else beside
                this program

)";

std::string own_directory() {
    char path[PATH_MAX];
    const auto size = readlink("/proc/self/exe", path, sizeof path);
    return std::filesystem::path(std::string(path, static_cast<std::size_t>(size)))
        .parent_path()
        .string();
}

void show_usage() {
    fmt::print(stderr, "{}", usage);
    for (const auto& benchmark : benchmarks) {
        fmt::print(stderr, "  {:<17}  {}\n", benchmark.name, benchmark.about);
    }
}

std::optional<Options> parse(int argc, char** argv) {
    Options options;
    options.knell = std::filesystem::path(own_directory()).parent_path() / "knell";
    const char* temporary = std::getenv("TMPDIR");
    options.directory = temporary != nullptr ? temporary : own_directory();
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--quick") {
            options.quick = true;
            continue;
        }
        auto* value = name == "--only"    ? &options.only
                      : name == "--out"   ? &options.out
                      : name == "--docs"  ? &options.docs
                      : name == "--knell" ? &options.knell
                      : name == "--dir"   ? &options.directory
                                          : nullptr;
        if (value == nullptr || i + 1 == argc) return std::nullopt;
        *value = argv[++i];
    }
    const auto known = [&](const Benchmark& b) { return b.name == options.only; };
    if (!options.only.empty() && std::ranges::none_of(benchmarks, known)) return std::nullopt;
    options.knell = std::filesystem::absolute(options.knell);
    options.directory = std::filesystem::absolute(options.directory);
    return options;
}

JsonObject measure_sync(const Options& options) {
    const TemporaryDirectory directory(options.directory);
    const auto found = percentiles_of(SyncProbe(directory.path()).times(syncs_around));
    return {{"p50_us", found.p50}, {"p99_us", found.p99}, {"load_average", load_average()}};
}

void run_all(const Options& options, Report& report) {
    for (const auto& benchmark : benchmarks) {
        if (interrupted != 0) return;
        if (!options.only.empty() && benchmark.name != options.only) continue;
        Lab lab(options, report, benchmark.chapter);
        fmt::print(stderr, "▸ {}: {}\n", benchmark.name, benchmark.about);
        const auto start = seconds_now();
        try {
            benchmark.run(lab);
            lab.say(fmt::format("took {:.0f} s", seconds_now() - start));
        } catch (const Failed& failure) {
            lab.say(fmt::format("failed: {}", failure.what()));
            lab.add({.name = std::string(benchmark.name),
                     .what = std::string(benchmark.about),
                     .met = false,
                     .note = fmt::format("failed: {}", failure.what())});
        }
    }
}

bool write_file(const std::filesystem::path& path, const std::string& text) {
    std::ofstream out(path);
    out << text;
    out.close();
    if (!out) fmt::print(stderr, "knell_bench: cannot write {}\n", path.string());
    return static_cast<bool>(out);
}

bool write_docs(const std::filesystem::path& directory, const JsonObject& machine,
                const Report& report) {
    std::error_code ignored;  // writing says what is wrong
    std::filesystem::create_directories(directory / "plots", ignored);
    const auto pictures = pictures_of(report);
    bool written = write_file(directory / "benchmarks.md", to_markdown(machine, report, pictures));
    for (const auto& picture : pictures) {
        written = write_file(directory / "plots" / picture.file, picture.svg) && written;
    }
    return written;
}

int run(const Options& options) {
    if (is_in_memory(options.directory)) {
        fmt::print(stderr,
                   "knell_bench: {} is in memory; nothing there is durable, so give a "
                   "directory on a disk with --dir\n",
                   options.directory);
        return 2;
    }
    interrupt_on_signals();
    const auto start = seconds_now();
    auto machine = describe_machine(options.directory);
    machine["quick"] = options.quick;
    machine["fdatasync_before"] = measure_sync(options);
    Report report;
    run_all(options, report);
    machine["fdatasync_after"] = measure_sync(options);
    machine["took_s"] = seconds_now() - start;

    fmt::print("{}\n{}\n", wire::to_pretty_text(machine), report.table());
    // A missed target is a finding; a benchmark that did not run is a failure.
    bool well = interrupted == 0 && std::ranges::all_of(report.rows(), [](const Row& row) {
                    return row.figure.runs > 0;
                });
    if (!options.out.empty()) {
        const JsonObject all{{"machine", machine}, {"rows", report.to_json()}};
        well = write_file(options.out, wire::to_pretty_text(all) + '\n') && well;
    }
    // Half a run must not replace a whole one.
    if (!options.docs.empty() && interrupted == 0) {
        well = write_docs(options.docs, machine, report) && well;
    }
    return well ? 0 : 1;
}

}  // namespace

void Lab::say(const std::string& what) const {
    fmt::print(stderr, "    {}\n", what);
}

}  // namespace knell::bench

int main(int argc, char** argv) {
    try {
        const auto options = knell::bench::parse(argc, argv);
        if (!options) {
            knell::bench::show_usage();
            return 2;
        }
        return knell::bench::run(*options);
    } catch (const std::exception& error) {
        fmt::print(stderr, "knell_bench: {}\n", error.what());
        return 1;
    }
}
