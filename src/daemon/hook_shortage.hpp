#pragma once

#include <cstddef>
#include <string>

#include "base/mutex.hpp"

namespace knell {

/// Why hooks wait to be started although their time has come: said in the log when it begins and
/// when it is over, and to whoever asks how the daemon is.
class HookShortage {
  public:
    /// `now`: what the system is short of; "" when of nothing.  The delivery thread's.
    void tell(const std::string& now, std::size_t waiting);

    /// Any thread: a sentence for people; "" when nothing is short.
    std::string text() const;

  private:
    mutable Mutex mutex_;
    std::string text_ KNELL_GUARDED_BY(mutex_);
};

}  // namespace knell
