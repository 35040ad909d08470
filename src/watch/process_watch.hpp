#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/departure.hpp"
#include "core/owner.hpp"
#include "watch/process_table.hpp"
#include "watch/watch_list.hpp"

namespace knell {

/// Watches processes and says when one is gone: through their pidfds, within the time it takes the
/// kernel to wake a thread, whoever its parent is; and those for which no descriptor can be had by
/// looking every second (see WatchList).
///
/// All public functions may be called from any thread; what is told is told on the watch thread.
class ProcessWatch {
  public:
    /// `held_max`: so many descriptors and no more are held.
    ProcessWatch(const ProcessTable& table, std::size_t held_max, WatchList::Tell tell);
    ~ProcessWatch();

    /// A process that is gone already is reported like one that dies later.  Asked again about one
    /// that is not held, it is looked for at once.
    void watch(const ProcessIdentity& process);
    void unwatch(const ProcessIdentity& process);

    /// Looks at all that is held, and calls `then` on the watch thread: who died before this was
    /// called was told of by then.
    void look_now(std::function<void()> then);

    WatchList::How how(const ProcessIdentity& process) const;
    WatchList::Counts counts() const;
    /// On the boot clock: every owner whose end was not told by now was there then.  Owners that
    /// cannot be told were said to be `unknown`.
    SteadyTime proven_until() const;

  private:
    class Loop;
    std::unique_ptr<Loop> loop_;
    std::thread thread_;
};

}  // namespace knell
