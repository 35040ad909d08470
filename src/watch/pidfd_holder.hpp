#pragma once

#include "watch/live_owners.hpp"
#include "watch/process_calls.hpp"
#include "watch/process_tree.hpp"
#include "watch/stopper.hpp"

namespace knell {

/// Holds processes by their pidfds; outlives them.  Without one nothing is ever signalled: a pid
/// alone may be another's by the time the signal arrives.
class PidfdHolder final : public ProcessHolder {
  public:
    PidfdHolder(const ProcessTree& tree, const LiveOwners& owners, ProcessCalls calls = {})
        : tree_(tree), owners_(owners), calls_(std::move(calls)) {}
    std::expected<std::unique_ptr<HeldProcess>, NotHeld> hold(
        const ProcessIdentity& process) const override;
    bool is_spared(const ProcessIdentity& process) const override;

  private:
    const ProcessTree& tree_;
    const LiveOwners& owners_;
    const ProcessCalls calls_;
};

}  // namespace knell
