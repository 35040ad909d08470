#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "samples.hpp"
#include "svg_plot.hpp"
#include "wire/json.hpp"

namespace knell::bench {

/// What a row belongs to; docs/benchmarks.md has one each, in this order.
enum class Chapter {
    gone,
    leases,
    sessions,
    processes,
    size,
    growth,
    events,
    listing,
    web,
    limits
};

/// One line of the table.
struct Row {
    Chapter chapter = Chapter::limits;
    std::string name;
    std::string what;
    std::string unit;
    Spread figure;

    std::string baseline;  // what `figure` is compared with in the same run, or ""
    Spread baseline_figure;
    Spread ratio;  // figure / baseline, from runs taken side by side

    std::string target;       // in words, or ""
    std::optional<bool> met;  // none: no target

    std::string note;
    std::vector<std::pair<std::string, double>> also;  // further figures, for the JSON and below
    bool tabled = false;                               // a Table of the chapter shows it
};

/// Figures that read better side by side than one a row.
struct Table {
    Chapter chapter = Chapter::limits;
    std::string caption;
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> lines;
};

/// Single measurements in seconds under a name; infinite: did not happen while we waited.
struct Samples {
    std::string name;
    std::vector<double> seconds;
};

/// Collects rows in the order they were measured, and shows all of them: the losing ones too.
class Report {
  public:
    void add(Row row) { rows_.push_back(std::move(row)); }
    void add_table(Table table) { tables_.push_back(std::move(table)); }
    /// For a plot of how they are distributed.
    void keep(const std::string& name, std::vector<double> seconds) {
        samples_.emplace_back(name, std::move(seconds));
    }
    /// Seconds against the number of sessions, for a plot of how they grow.
    void keep(Series curve) { curves_.push_back(std::move(curve)); }

    const std::vector<Row>& rows() const { return rows_; }
    const std::vector<Table>& tables() const { return tables_; }
    const std::vector<Samples>& samples() const { return samples_; }
    const std::vector<Series>& curves() const { return curves_; }

    std::string table() const;
    JsonArray to_json() const;

  private:
    std::vector<Row> rows_;
    std::vector<Table> tables_;
    std::vector<Samples> samples_;
    std::vector<Series> curves_;
};

}  // namespace knell::bench
