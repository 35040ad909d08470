#include "report.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "figures.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t column_count = 6;
using Cells = std::array<std::string, column_count>;

Cells cells_of(const Row& row) {
    const bool failed = row.figure.runs == 0;
    return {row.name,
            failed ? "failed" : with_spread(row.figure, row.unit),
            row.baseline.empty() ? "" : with_unit(row.baseline_figure.median, row.unit),
            row.baseline.empty() ? "" : number(row.ratio.median) + "x",
            row.target,
            row.met ? (*row.met ? "yes" : "NO") : ""};
}

JsonObject to_json(const Spread& spread) {
    return {{"median", spread.median},
            {"low", spread.low},
            {"high", spread.high},
            {"runs", spread.runs}};
}

JsonObject to_json(const Row& row) {
    JsonObject object{{"name", row.name}, {"what", row.what}, {"unit", row.unit}};
    object["figure"] = to_json(row.figure);
    if (!row.baseline.empty()) {
        object["baseline"] = row.baseline;
        object["baseline_figure"] = to_json(row.baseline_figure);
        object["ratio"] = to_json(row.ratio);
    }
    if (!row.target.empty()) object["target"] = row.target;
    if (row.met) object["met"] = *row.met;
    JsonObject also;
    for (const auto& [name, value] : row.also) also[name] = value;
    object["also"] = std::move(also);
    if (!row.note.empty()) object["note"] = row.note;
    return object;
}

}  // namespace

std::string Report::table() const {
    std::vector<Cells> lines{{"benchmark", "figure", "baseline", "ratio", "target", "met"}};
    for (const auto& row : rows_) lines.push_back(cells_of(row));
    std::array<std::size_t, column_count> widths{};
    for (const auto& line : lines) {
        for (std::size_t i = 0; i < column_count; ++i) {
            widths[i] = std::max(widths[i], line[i].size());
        }
    }
    std::string text;
    for (std::size_t n = 0; n < lines.size(); ++n) {
        std::string line;
        for (std::size_t i = 0; i < column_count; ++i) {
            line += fmt::format("{:<{}}  ", lines[n][i], widths[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
        if (n == 0) continue;
        const auto& row = rows_[n - 1];
        text += fmt::format("    {}{}{}\n", row.what,
                            row.baseline.empty() ? "" : "; baseline: ", row.baseline);
        std::string also;
        for (const auto& [name, value] : row.also) {
            also += fmt::format("{}{} {}", also.empty() ? "" : ", ", name, number(value));
        }
        if (!also.empty()) text += fmt::format("    {}\n", also);
        if (!row.note.empty()) text += fmt::format("    {}\n", row.note);
    }
    return text;
}

JsonArray Report::to_json() const {
    JsonArray array;
    for (const auto& row : rows_) array.push_back(bench::to_json(row));
    return array;
}

}  // namespace knell::bench
