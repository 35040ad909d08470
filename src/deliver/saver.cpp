#include "deliver/saver.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace knell {

namespace {

using namespace std::chrono_literals;

/// The progress of subscribers is saved this often at most.  After a crash what was delivered since
/// is delivered again.
constexpr std::chrono::milliseconds save_period = 250ms;
/// The store said no.
constexpr std::chrono::milliseconds save_again_after = 1s;

}  // namespace

bool Saver::is_time(const DeliveryScheduler& scheduler, bool is_awaited, SteadyTime now) const {
    if (is_saving_) return false;
    if (!refused_.empty()) return now - begun_at_ >= save_again_after;
    if (is_awaited || scheduler.has_urgent_changes()) return true;
    return scheduler.has_changes() && now - begun_at_ >= save_period;
}

std::optional<SteadyTime> Saver::next_save(const DeliveryScheduler& scheduler, bool is_awaited,
                                           SteadyTime now) const {
    if (is_saving_ || is_all_saved(scheduler)) return std::nullopt;
    if (is_time(scheduler, is_awaited, now)) return now;
    return begun_at_ + (refused_.empty() ? save_period : save_again_after);
}

std::vector<DeliveryChange> Saver::begin(DeliveryScheduler& scheduler, SteadyTime now) {
    is_saving_ = true;
    begun_at_ = now;
    under_way_ = take_rest(scheduler);
    return under_way_;
}

void Saver::finish(bool saved) {
    is_saving_ = false;
    auto changes = std::exchange(under_way_, {});
    // Said again with the next ones: each holds all there is to know.
    if (!saved) refused_ = std::move(changes);
}

bool Saver::is_all_saved(const DeliveryScheduler& scheduler) const {
    return !is_saving_ && refused_.empty() && !scheduler.has_changes();
}

std::vector<DeliveryChange> Saver::take_rest(DeliveryScheduler& scheduler) {
    auto changes = std::exchange(refused_, {});
    std::ranges::move(scheduler.take_changes(), std::back_inserter(changes));
    return changes;
}

}  // namespace knell
