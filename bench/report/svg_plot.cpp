#include "svg_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "figures.hpp"

namespace knell::bench {

namespace {

constexpr double width = 860;
constexpr double height = 440;
constexpr double left = 78;
constexpr double right = 230;  // the legend stands there
constexpr double top = 44;
constexpr double bottom = 58;
constexpr double legend_line = 20;
constexpr std::size_t log_ticks_max = 10;
constexpr double linear_ticks_wanted = 6;

/// Told apart by colour-blind readers too, and dark enough on white.
constexpr std::array<const char*, series_max> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#8a6d00", "#56b4e9", "#333333", "#7f3fbf",
                                                      "#a03030", "#5a7d2a"};
/// A second mark of difference, for print in grey.
constexpr std::array<const char*, 3> dashes{"", "7 3", "2 3"};

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '&') {
            out += "&amp;";
        } else if (c == '<') {
            out += "&lt;";
        } else if (c == '>') {
            out += "&gt;";
        } else {
            out += c;
        }
    }
    return out;
}

std::string tick_label(const Axis& axis, double value) {
    switch (axis.ticks) {
        case Axis::Ticks::counts:
            return value >= 1 || value == 0 ? grouped(value) : fmt::format("{:g}", value);
        case Axis::Ticks::percent:
            return fmt::format("{:g} %", value * 100);
        case Axis::Ticks::seconds:
            if (value >= 1) return fmt::format("{:g} s", value);
            if (value >= 0.9e-3) return fmt::format("{:g} ms", value * 1e3);
            return fmt::format("{:g} µs", value * 1e6);
    }
    return "";
}

/// Where values of one axis lie on the paper.
struct Scale {
    bool logarithmic = false;
    double from = 0;
    double to = 1;
    double paper_from = 0;
    double paper_to = 1;
    std::vector<double> ticks;

    double at(double value) const {
        const auto part = logarithmic ? std::log10(value / from) / std::log10(to / from)
                                      : (value - from) / (to - from);
        return paper_from + std::clamp(part, 0.0, 1.0) * (paper_to - paper_from);
    }
};

Scale scale_for(const Plot& plot, const Axis& axis, double Point::* value, double paper_from,
                double paper_to) {
    auto low = std::numeric_limits<double>::max();
    auto high = std::numeric_limits<double>::lowest();
    for (const auto& series : plot.series) {
        for (const auto& point : series.points) {
            if (axis.logarithmic && point.*value <= 0) continue;
            low = std::min(low, point.*value);
            high = std::max(high, point.*value);
        }
    }
    if (low > high) low = high = 1;
    if (axis.ticks == Axis::Ticks::percent) {
        low = 0;
        high = 1;
    }
    auto ticks = axis.logarithmic ? log_ticks(low, high) : linear_ticks(low, high);
    const auto from = ticks.front();
    const auto to = ticks.back();
    return {axis.logarithmic, from, to, paper_from, paper_to, std::move(ticks)};
}

class Drawing {
  public:
    explicit Drawing(const Plot& plot)
        : plot_(plot),
          x_(scale_for(plot, plot.x, &Point::x, left, width - right)),
          y_(scale_for(plot, plot.y, &Point::y, height - bottom, top)) {}

    std::string draw() {
        add(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" )"
            R"(height="{1}" font-family="Helvetica, Arial, sans-serif" font-size="13" )"
            R"(fill="#222222">)",
            width, height);
        add(R"(<rect width="{}" height="{}" fill="#ffffff"/>)", width, height);
        add(R"(<text x="{}" y="24" font-size="16" font-weight="bold">{}</text>)", left,
            escaped(plot_.title));
        draw_x_axis();
        draw_y_axis();
        for (std::size_t i = 0; i < std::min(plot_.series.size(), series_max); ++i) {
            draw_series(i);
            draw_legend(i);
        }
        return out_ + "</svg>\n";
    }

  private:
    template <typename... Values>
    void add(fmt::format_string<Values...> format, Values&&... values) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Values>(values)...);
        out_ += '\n';
    }

    void draw_x_axis() {
        for (const auto tick : x_.ticks) {
            const auto x = x_.at(tick);
            add(R"(<line x1="{0:.1f}" y1="{1}" x2="{0:.1f}" y2="{2}" stroke="#dddddd"/>)", x, top,
                height - bottom);
            add(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>)", x,
                height - bottom + 19, tick_label(plot_.x, tick));
        }
        add(R"(<text x="{}" y="{}" text-anchor="middle">{}</text>)", (left + width - right) / 2,
            height - 14, escaped(plot_.x.label));
    }

    void draw_y_axis() {
        for (const auto tick : y_.ticks) {
            const auto y = y_.at(tick);
            add(R"(<line x1="{0}" y1="{1:.1f}" x2="{2}" y2="{1:.1f}" stroke="#dddddd"/>)", left, y,
                width - right);
            add(R"(<text x="{}" y="{:.1f}" text-anchor="end">{}</text>)", left - 8, y + 4.5,
                tick_label(plot_.y, tick));
        }
        const auto middle = (top + height - bottom) / 2;
        add(R"svg(<text x="18" y="{0}" text-anchor="middle" transform="rotate(-90 18 {0})">{1}</text>)svg",
            middle, escaped(plot_.y.label));
        add(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="none" stroke="#888888"/>)", left,
            top, width - right - left, height - bottom - top);
    }

    std::string stroke(std::size_t index) const {
        const std::string dash = dashes[index % dashes.size()];
        return fmt::format(R"(stroke="{}" stroke-width="2"{})", colours[index],
                           dash.empty() ? "" : fmt::format(R"( stroke-dasharray="{}")", dash));
    }

    void draw_series(std::size_t index) {
        const auto& series = plot_.series[index];
        std::string path;
        std::string dots;
        double last_y = 0;
        for (const auto& point : series.points) {
            if (plot_.x.logarithmic && point.x <= 0) continue;
            if (plot_.y.logarithmic && point.y <= 0) continue;
            const auto x = x_.at(point.x);
            const auto y = y_.at(point.y);
            if (!path.empty() && series.steps) path += fmt::format("L{:.1f} {:.1f}", x, last_y);
            path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', x, y);
            last_y = y;
            if (!series.dots) continue;
            dots += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3.5" fill="{}"/>)"
                                "\n",
                                x, y, colours[index]);
        }
        if (path.empty()) return;
        add(R"(<path d="{}" fill="none" stroke-linejoin="round" {}/>)", path, stroke(index));
        out_ += dots;
    }

    void draw_legend(std::size_t index) {
        const auto x = width - right + 16;
        const auto y = top + 10 + static_cast<double>(index) * legend_line;
        add(R"(<line x1="{0}" y1="{1}" x2="{2}" y2="{1}" {3}/>)", x, y, x + 26, stroke(index));
        add(R"(<text x="{}" y="{}">{}</text>)", x + 32, y + 4.5, escaped(plot_.series[index].name));
    }

    const Plot& plot_;
    const Scale x_;
    const Scale y_;
    std::string out_;
};

}  // namespace

std::string to_svg(const Plot& plot) {
    return Drawing(plot).draw();
}

std::vector<double> log_ticks(double low, double high) {
    // A hair of tolerance: log10(1000) may come out as 2.9999999999999996.
    constexpr double hair = 1e-9;
    const auto first = static_cast<int>(std::floor(std::log10(low) + hair));
    const auto last = std::max(static_cast<int>(std::ceil(std::log10(high) - hair)), first + 1);
    const int step = static_cast<std::size_t>(last - first) >= log_ticks_max ? 3 : 1;
    std::vector<double> ticks;
    for (int power = first; power < last + step; power += step) {
        ticks.push_back(std::pow(10.0, power));
    }
    return ticks;
}

std::vector<double> linear_ticks(double low, double high) {
    const auto span = high > low ? high - low : 1;
    const auto power = std::pow(10.0, std::floor(std::log10(span / linear_ticks_wanted)));
    auto step = 10 * power;
    for (const double multiple : {1.0, 2.0, 5.0}) {
        if (span / (multiple * power) > linear_ticks_wanted) continue;
        step = multiple * power;
        break;
    }
    std::vector<double> ticks;
    const auto first = std::floor(low / step);
    const auto last = std::max(std::ceil(high / step - 1e-9), first + 1);
    for (auto count = first; count <= last; ++count) ticks.push_back(count * step);
    return ticks;
}

std::vector<Point> distribution_of(std::vector<double> samples, std::size_t points_max) {
    std::ranges::sort(samples);
    std::vector<Point> points;
    const auto count = samples.size();
    if (count == 0 || std::isinf(samples.front())) return points;
    points.push_back({samples.front(), 0});
    const auto steps = std::min(count, points_max - 1);
    for (std::size_t i = 1; i <= steps; ++i) {
        const auto rank = i * count / steps;
        if (std::isinf(samples[rank - 1])) break;
        points.push_back(
            {samples[rank - 1], static_cast<double>(rank) / static_cast<double>(count)});
    }
    return points;
}

}  // namespace knell::bench
