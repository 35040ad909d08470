#pragma once

#include <optional>
#include <string>

#include "base/mutex.hpp"
#include "base/time.hpp"
#include "platform/folder_watch.hpp"
#include "platform/paths.hpp"

namespace knell {

/// Tells when config.yaml or something in a hook's directory has changed.  One thread, except
/// `trouble`.
class SubscriberFiles {
  public:
    explicit SubscriberFiles(const Paths& paths, FolderWatch::Ask ask = FolderWatch::ask_system);

    /// Watches all that is there now: before it is read.
    void watch();
    /// Whether something has changed since the last call.  `is_asked`: somebody waits who may have
    /// changed something.
    bool take_change(SteadyTime now, bool is_asked);

    /// Readable when there is a reason for `take_change`; -1: nothing says so.
    int descriptor() const { return folders_.descriptor(); }
    /// When there is a reason though the descriptor does not say so.
    std::optional<SteadyTime> next_look() const;

    /// Any thread: why changes are noticed late; "" when they are not.
    std::string trouble() const;

  private:
    void tell_of_trouble();

    const std::string config_file_;
    const std::string hooks_dir_;
    FolderWatch folders_;
    SteadyTime look_at_{};
    mutable Mutex trouble_mutex_;
    std::string trouble_ KNELL_GUARDED_BY(trouble_mutex_);
};

}  // namespace knell
