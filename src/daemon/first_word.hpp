#pragma once

#include <functional>

#include "daemon/spool.hpp"
#include "engine/observation.hpp"
#include "net/event_loop.hpp"
#include "watch/process_table.hpp"

namespace knell {

/// Holds back that a command has ended until its `knell run` has had its say.
///
/// That leaves the command unwaited for until it has told of its end, and knows more than its exit
/// status: what asked it to end.  So it has the first word, for a second in all, in case it is
/// stopped or busy; also when it could not reach us and wrote it down.  Any thread.
class FirstWord {
  public:
    using Observe = std::function<void(OwnerGone)>;

    FirstWord(net::EventLoop& loop, const ProcessTable& processes, SpoolIntake& spool,
              Observe observe)
        : loop_(loop), processes_(processes), spool_(spool), observe_(std::move(observe)) {}

    void wait(OwnerGone gone) { wait(std::move(gone), looks_max); }

  private:
    static constexpr int looks_max = 50;
    void wait(OwnerGone gone, int looks);

    net::EventLoop& loop_;
    const ProcessTable& processes_;
    SpoolIntake& spool_;
    const Observe observe_;
};

}  // namespace knell
