#include "cli/bar_chart.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "cli/table.hpp"
#include "cli/text_width.hpp"

namespace knell::cli {

namespace {

constexpr std::size_t file_width = 80;
constexpr std::size_t bar_width_max = 100;
constexpr std::size_t bar_width_min = 4;
constexpr std::size_t eighths = 8;

std::string blocks(std::int64_t value, std::int64_t most, std::size_t width) {
    static constexpr std::array<std::string_view, eighths> parts{"",  "▏", "▎", "▍",
                                                                 "▌", "▋", "▊", "▉"};
    const auto share = static_cast<double>(value) / static_cast<double>(most);
    auto length = static_cast<std::size_t>(share * static_cast<double>(width * eighths) + 0.5);
    if (value > 0) length = std::max<std::size_t>(length, 1);
    std::string text;
    for (std::size_t i = 0; i < length / eighths; ++i) text += "█";
    return text += parts.at(length % eighths);
}

}  // namespace

std::string bar_chart(const std::vector<Bar>& bars, const Terminal& terminal) {
    std::size_t label_width = 0;
    std::size_t value_width = 0;
    std::int64_t most = 1;
    for (const auto& bar : bars) {
        label_width = std::max(label_width, display_width(one_line(bar.label)));
        value_width = std::max(value_width, bar.shown.size());
        most = std::max(most, bar.value);
    }
    const auto width = terminal.width > 0 ? terminal.width : file_width;
    // Label and bar are followed by a blank each, and the line begins with two.
    const auto used = value_width + 4;
    const auto room = width > used ? width - used : 0;
    label_width = std::min(label_width, std::max(room, bar_width_min + 1) - bar_width_min);
    const auto bar_width =
        std::clamp(room > label_width ? room - label_width : 0, bar_width_min, bar_width_max);
    std::string chart;
    for (const auto& bar : bars) {
        const auto label = fit(one_line(bar.label), label_width);
        chart +=
            fmt::format("  {}{} ", label, std::string(label_width - display_width(label), ' '));
        const auto drawn = blocks(bar.value, most, bar_width);
        if (!drawn.empty()) chart += toned(drawn, Tone::good, terminal) + " ";
        chart += bar.shown + "\n";
    }
    return chart;
}

std::string short_number(std::int64_t number) {
    constexpr std::array<std::string_view, 7> units{"", "k", "M", "G", "T", "P", "E"};
    auto value = static_cast<double>(number);
    std::size_t unit = 0;
    // What would be rounded up to a thousand is one of the next.
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= 1000;
        ++unit;
    }
    const int digits = unit > 0 && value < 9.95 ? 1 : 0;
    return fmt::format("{:.{}f}{}", value, digits, units.at(unit));
}

}  // namespace knell::cli
