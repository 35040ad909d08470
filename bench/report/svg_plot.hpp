#pragma once

#include <string>
#include <vector>

namespace knell::bench {

struct Point {
    double x = 0;
    double y = 0;
};

struct Series {
    std::string name;
    std::vector<Point> points;  // in the order they are joined
    bool steps = false;         // a distribution: y holds until the next x
    bool dots = false;          // mark what was measured
};

struct Axis {
    std::string label;
    bool logarithmic = false;
    enum class Ticks { counts, seconds, percent } ticks = Ticks::counts;
};

struct Plot {
    std::string title;
    Axis x;
    Axis y;
    std::vector<Series> series;  // at most as many as there are colours: series_max
};

inline constexpr std::size_t series_max = 10;

/// One SVG document, on white so that it reads the same on a dark page.
std::string to_svg(const Plot& plot);

/// Powers of ten from the one below `low` to the one above `high`; every third where they are many.
std::vector<double> log_ticks(double low, double high);
/// Four to ten round numbers (1, 2 or 5 times a power of ten) that cover `low` to `high`.
std::vector<double> linear_ticks(double low, double high);

/// The share of `samples` at or below x, as a line of at most `points_max` steps.  Infinite ones
/// count as samples and are never reached.
std::vector<Point> distribution_of(std::vector<double> samples, std::size_t points_max = 200);

}  // namespace knell::bench
