#pragma once

#include <string>
#include <vector>

#include "core/error.hpp"
#include "platform/fd.hpp"

namespace knell {

/// Tells when something in a folder was added, changed or removed.  One thread.
class FolderWatch {
  public:
    FolderWatch();

    /// Of `folder` only entries called `names` count; none: all do.  A folder that is not there is
    /// left out: watch its parent, too.  Watching the same again changes nothing.
    void watch(const std::string& folder, std::vector<std::string> names = {});

    /// Readable when there may be something; -1 when the system offers no watch.
    int descriptor() const { return fd_.get(); }
    /// Whether something has changed since the last call.  Never waits.
    bool take_change();

  private:
    struct Watched {
        int number;
        std::vector<std::string> names;
    };

    Fd fd_;
    std::vector<Watched> watched_;
};

}  // namespace knell
