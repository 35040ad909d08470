#include "pictures.hpp"

#include <algorithm>
#include <string_view>

namespace knell::bench {

namespace {

constexpr std::string_view gone_prefix = kept::gone;

Plot distribution_plot(std::string title, std::vector<Series> series) {
    return {.title = std::move(title),
            .x = {.label = "time, logarithmic", .logarithmic = true, .ticks = Axis::Ticks::seconds},
            .y = {.label = "share at or below", .ticks = Axis::Ticks::percent},
            .series = std::move(series)};
}

Series distribution(std::string name, const std::vector<double>& seconds) {
    return {.name = std::move(name), .points = distribution_of(seconds), .steps = true};
}

std::vector<Series> gone_series(const Report& report) {
    std::vector<Series> series;
    for (const auto& [name, seconds] : report.samples()) {
        if (!name.starts_with(gone_prefix)) continue;
        series.push_back(distribution(name.substr(gone_prefix.size()), seconds));
    }
    return series;
}

std::vector<Series> single_series(const Report& report) {
    constexpr std::pair<const char*, const char*> shown[] = {
        {kept::create_sync, "one fdatasync"},
        {kept::create, "one create"},
        {kept::death_floor, "pidfd wake-up + fdatasync"},
        {kept::death, "SIGKILL to end heard"},
    };
    std::vector<Series> series;
    for (const auto& [name, title] : shown) {
        const auto found = std::ranges::find(report.samples(), name, &Samples::name);
        if (found != report.samples().end()) series.push_back(distribution(title, found->seconds));
    }
    return series;
}

}  // namespace

std::vector<Picture> pictures_of(const Report& report) {
    std::vector<Picture> pictures;
    if (auto series = gone_series(report); !series.empty()) {
        pictures.push_back(
            {Chapter::gone, "gone.svg",
             "Share of ends heard against the time since the owner was gone, all contenders",
             to_svg(distribution_plot("10,000 ends among 100,000: owner gone to end heard",
                                      std::move(series)))});
    }
    if (auto series = single_series(report); !series.empty()) {
        pictures.push_back({Chapter::sessions, "single.svg",
                            "Distribution of single creates and deaths beside what the machine "
                            "itself needs",
                            to_svg(distribution_plot("One at a time", std::move(series)))});
    }
    if (!report.curves().empty()) {
        pictures.push_back(
            {Chapter::growth, "growth.svg",
             "Time of each operation against the number of open sessions",
             to_svg({.title = "Time of one operation by the number of sessions",
                     .x = {.label = "open sessions", .logarithmic = true},
                     .y = {.label = "time", .logarithmic = true, .ticks = Axis::Ticks::seconds},
                     .series = report.curves()})});
    }
    return pictures;
}

}  // namespace knell::bench
