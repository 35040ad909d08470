#include "samples.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace knell::bench {

namespace {

/// Nearest rank, on sorted samples.
double at_rank(const std::vector<double>& sorted, double fraction) {
    const auto rank = std::ceil(fraction * static_cast<double>(sorted.size()));
    return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace

Spread spread_of(std::vector<double> runs) {
    if (runs.empty()) return {};
    std::ranges::sort(runs);
    return {at_rank(runs, 0.5), runs.front(), runs.back(), runs.size()};
}

std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> result;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) result.push_back(a[i] / b[i]);
    return result;
}

Percentiles percentiles_of(std::vector<double> samples) {
    if (samples.empty()) return {};
    std::ranges::sort(samples);
    return {at_rank(samples, 0.5), at_rank(samples, 0.9), at_rank(samples, 0.99), samples.back()};
}

double seconds_now() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

double seconds_of(const std::function<void()>& work) {
    const auto start = seconds_now();
    work();
    return seconds_now() - start;
}

}  // namespace knell::bench
