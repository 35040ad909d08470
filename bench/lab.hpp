#pragma once

#include <functional>
#include <memory>
#include <string>

#include "disk.hpp"
#include "report.hpp"

namespace knell::bench {

struct Options {
    std::string knell;      // the program under test
    std::string directory;  // where homes are made: a real disk
    std::string only;       // one benchmark, or all
    std::string out;        // JSON file, or ""
    std::string docs;       // directory for benchmarks.md and plots/, or ""
    bool quick = false;     // smaller and fewer: shows that it works, not how fast it is
};

/// What a benchmark works with.
class Lab {
  public:
    Lab(const Options& options, Report& report, Chapter chapter)
        : options_(options), report_(report), chapter_(chapter) {}

    const Options& options() const { return options_; }
    void add(Row row) {
        row.chapter = chapter_;
        report_.add(std::move(row));
    }
    void add_table(Table table) {
        table.chapter = chapter_;
        report_.add_table(std::move(table));
    }
    /// For a plot: single measurements, or a curve.
    void keep(const std::string& name, std::vector<double> seconds) {
        report_.keep(name, std::move(seconds));
    }
    void keep(Series curve) { report_.keep(std::move(curve)); }

    /// Runs of each side; interleaved, so that both meet the same disk.
    std::size_t runs() const { return options_.quick ? 2 : 5; }
    std::size_t scaled(std::size_t full) const { return options_.quick ? full / 10 : full; }

    /// Where one run keeps its files.
    std::unique_ptr<TemporaryDirectory> new_home() const {
        return std::make_unique<TemporaryDirectory>(options_.directory);
    }

    /// One line of progress on standard error.
    void say(const std::string& what) const;

  private:
    const Options& options_;
    Report& report_;
    const Chapter chapter_;
};

struct Benchmark {
    Chapter chapter;
    std::string_view name;
    std::string_view about;
    void (*run)(Lab& lab);
};

// One function each, in rows_*.cpp; main.cpp holds the list.
void measure_limits(Lab& lab);
void measure_create(Lab& lab);
void measure_create_one(Lab& lab);
void measure_memory(Lab& lab);
void measure_list(Lab& lab);
void measure_list_behind(Lab& lab);
void measure_restart(Lab& lab);
void measure_calls(Lab& lab);
void measure_run(Lab& lab);
void measure_death(Lab& lab);
void measure_heartbeats(Lab& lab);
void measure_tool_reports(Lab& lab);
void measure_storm(Lab& lab);
void measure_idle(Lab& lab);
void measure_gone(Lab& lab);
void measure_growth(Lab& lab);
void measure_feed_lag(Lab& lab);
void measure_feed_live(Lab& lab);
void measure_feed_behind(Lab& lab);
void measure_web_idle(Lab& lab);
void measure_web_calls(Lab& lab);
void measure_web_fanout(Lab& lab);
void measure_web_cut(Lab& lab);
void measure_web_silent(Lab& lab);
void measure_picture(Lab& lab);
void measure_sampling(Lab& lab);
void measure_background_start(Lab& lab);
void measure_background_crowd(Lab& lab);
void measure_background_exit(Lab& lab);
void measure_background_memory(Lab& lab);
void measure_search(Lab& lab);
void measure_routes(Lab& lab);
void measure_idle_keys(Lab& lab);

}  // namespace knell::bench
