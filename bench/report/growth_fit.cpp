#include "growth_fit.hpp"

#include <algorithm>
#include <cmath>

namespace knell::bench {

namespace {

constexpr double constant_max = 0.25;
constexpr double below_linear_max = 0.8;
constexpr double linear_max = 1.15;

double exponent_between(const Measured& small, const Measured& large) {
    if (small.cost <= 0 || large.cost <= 0) return 0;
    return std::log(large.cost / small.cost) / std::log(large.sessions / small.sessions);
}

}  // namespace

std::string_view to_string(Growth growth) {
    switch (growth) {
        case Growth::constant:
            return "constant";
        case Growth::below_linear:
            return "below linear";
        case Growth::linear:
            return "linear";
        case Growth::worse:
            return "worse";
    }
    return "";
}

double exponent_of(const std::vector<Measured>& sizes) {
    const auto& last = sizes.back();
    return std::max(exponent_between(sizes.front(), last),
                    exponent_between(sizes[sizes.size() - 2], last));
}

Growth classify(const std::vector<Measured>& sizes) {
    const auto exponent = exponent_of(sizes);
    if (exponent < constant_max) return Growth::constant;
    if (exponent < below_linear_max) return Growth::below_linear;
    if (exponent <= linear_max) return Growth::linear;
    return Growth::worse;
}

}  // namespace knell::bench
