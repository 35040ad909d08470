#pragma once

#include <fcntl.h>

#include "base/mutex.hpp"
#include "platform/fd.hpp"

namespace knell {

/// One descriptor kept back, for something that must work when all others are taken.
class SpareDescriptor {
  public:
    /// Runs `work` with the descriptor free for it to use.  Another thread may be quicker to take
    /// it: then the work fails as it did before, and the next try may do better.
    template <typename Work>
    auto lend(Work&& work) {
        const Lock lock(mutex_);
        kept_.reset();
        auto result = work();
        kept_ = Fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
        return result;
    }

  private:
    Mutex mutex_;
    Fd kept_ KNELL_GUARDED_BY(mutex_){::open("/dev/null", O_RDONLY | O_CLOEXEC)};
};

}  // namespace knell
