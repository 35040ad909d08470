#pragma once

#include <string_view>
#include <vector>

namespace knell::bench {

/// How a cost grows with the number of sessions.
enum class Growth { constant, below_linear, linear, worse };

std::string_view to_string(Growth growth);

struct Measured {
    double sessions = 0;
    double cost = 0;  // time, memory or CPU; for a rate, its inverse
};

/// The k of cost ~ sessions^k: the larger of that over all sizes and that between the two largest.
/// The last step is looked at by itself because a fixed cost hides growth at the small sizes.
/// Needs two sizes at least, in rising order; a cost of 0 counts as too small to grow.
double exponent_of(const std::vector<Measured>& sizes);

/// Constant below 0.25 (ten times the sessions cost less than 1.8 times as much), below linear to
/// 0.8, linear to 1.15, worse above.
Growth classify(const std::vector<Measured>& sizes);

}  // namespace knell::bench
