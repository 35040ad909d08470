#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace knell::bench {

/// Several runs of the same thing: the middle one and how far they lie apart.
struct Spread {
    double median = 0;
    double low = 0;
    double high = 0;
    std::size_t runs = 0;
};

Spread spread_of(std::vector<double> runs);

/// a[i] / b[i]: runs that were taken side by side are compared side by side, because the disk and
/// the neighbours on the machine drift.
std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b);

struct Percentiles {
    double p50 = 0;
    double p90 = 0;
    double p99 = 0;
    double max = 0;
};

Percentiles percentiles_of(std::vector<double> samples);

/// Seconds on a clock that only goes forward.
double seconds_now();

/// How long `work` takes, in seconds.
double seconds_of(const std::function<void()>& work);

}  // namespace knell::bench
