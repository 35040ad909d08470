#include "contender.hpp"

#include <algorithm>

namespace knell::bench {

namespace {

/// Apart from each other by no multiple of the periods in which the peers look for what is due.
constexpr double apart_s = 0.37;

}  // namespace

double patience_s(const Lab& lab) {
    return lab.options().quick ? 12 : 45;
}

EndsHeard LeaseContender::lose_together(std::size_t count) {
    ends().expect(next_, count);
    const auto gone = grant(next_, count);
    return wait_for(gone);
}

EndsHeard LeaseContender::lose_singly(std::size_t count) {
    ends().expect(next_, count);
    std::vector<double> gone;
    const auto first = next_;
    for (std::size_t i = 0; i < count; ++i) {
        gone.push_back(grant(first + i, 1).front());
        ends().read_for(apart_s);
    }
    return wait_for(gone);
}

EndsHeard LeaseContender::wait_for(const std::vector<double>& gone) {
    next_ += gone.size();
    const auto patience = std::ranges::max(gone) + patience_s_ - seconds_now();
    ends().read_for(std::max(patience, 0.0));
    EndsHeard result{.unheard = ends().unheard()};
    for (std::size_t i = 0; i < gone.size(); ++i) {
        const auto heard = ends().heard_at()[i];
        result.seconds.push_back(heard > 0 ? heard - gone[i] : patience_s_);
    }
    return result;
}

}  // namespace knell::bench
