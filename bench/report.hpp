#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "samples.hpp"
#include "wire/json.hpp"

namespace knell::bench {

/// One line of the table.
struct Row {
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
};

/// Collects rows in the order they were measured, and shows all of them: the losing ones too.
class Report {
  public:
    void add(Row row) { rows_.push_back(std::move(row)); }
    const std::vector<Row>& rows() const { return rows_; }

    std::string table() const;
    JsonArray to_json() const;

  private:
    std::vector<Row> rows_;
};

}  // namespace knell::bench
