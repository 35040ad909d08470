#include "client/deadline.hpp"

#include <algorithm>
#include <climits>

#include "platform/clock.hpp"

namespace knell::client {

using std::chrono::milliseconds;

Deadline::Deadline(milliseconds budget) : end_(read_clocks().steady + budget) {}

bool Deadline::passed() const {
    return left() == milliseconds{0};
}

milliseconds Deadline::left() const {
    // Rounded up: rounding down would make the last poll a spin with a timeout of 0.
    const auto left = std::chrono::ceil<milliseconds>(end_ - read_clocks().steady);
    return std::max(left, milliseconds{0});
}

int Deadline::poll_millis(milliseconds step) const {
    return static_cast<int>(std::min({left(), step, milliseconds{INT_MAX}}).count());
}

}  // namespace knell::client
