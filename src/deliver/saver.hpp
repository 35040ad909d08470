#pragma once

#include <optional>
#include <vector>

#include "deliver/delivery_scheduler.hpp"

namespace knell {

/// When what a scheduler has to save goes to the store, and in which order: one save at a time, and
/// what the store refused before what is new.  Saves nothing itself: the daemon's delivery thread
/// and the simulator both drive it.
///
///   idle     ── begin ──▶ saving
///   saving   ── finish(true) ──▶ idle,  finish(false) ──▶ refused; it is not time before that
///   refused  ── begin ──▶ saving, a second later and with what is new behind what was refused
class Saver {
  public:
    /// `is_awaited`: somebody's answer waits for the save.
    bool is_time(const DeliveryScheduler& scheduler, bool is_awaited, SteadyTime now) const;
    /// When it will be time, were nothing to happen until then.
    std::optional<SteadyTime> next_save(const DeliveryScheduler& scheduler, bool is_awaited,
                                        SteadyTime now) const;
    /// What to save now; `finish` says what became of it.
    std::vector<DeliveryChange> begin(DeliveryScheduler& scheduler, SteadyTime now);
    void finish(bool saved);

    bool is_saving() const { return is_saving_; }
    bool is_all_saved(const DeliveryScheduler& scheduler) const;
    /// For a last save, after which nobody asks.
    std::vector<DeliveryChange> take_rest(DeliveryScheduler& scheduler);

  private:
    std::vector<DeliveryChange> under_way_;
    std::vector<DeliveryChange> refused_;
    bool is_saving_ = false;
    SteadyTime begun_at_{};
};

}  // namespace knell
