#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "platform/fd.hpp"

namespace knell {

/// Tells when something in a folder was added, changed or removed.  One thread.
///
/// The kernel tells as long as it grants a watch (inotify).  Its watches are counted for each user,
/// and editors take many: for a folder without one, `look` compares what is there with what was.
class FolderWatch {
  public:
    /// Gives an inotify instance, or -1 and errno.
    using Ask = int (*)();
    static int ask_system();

    explicit FolderWatch(Ask ask = ask_system);

    /// Of `folder` only entries called `names` count; none: all do.  A folder that is not there is
    /// left out: watch its parent, too.  Watching the same again changes nothing.
    void watch(const std::string& folder, std::vector<std::string> names = {});

    /// Readable when there may be something; -1 when the system offers no watch.
    int descriptor() const { return fd_.get(); }
    /// Whether the kernel has told of something since the last call.  Never waits.
    bool take_change();

    /// Why the kernel does not tell of all of them, so that `look` must be called now and then; ""
    /// when it does.
    const std::string& trouble() const { return trouble_; }
    /// Whether something has changed in a folder that the kernel does not watch.  Asks it again to.
    bool look();

  private:
    struct Watched {
        int number;  // -1: not by the kernel
        std::string folder;
        std::vector<std::string> names;
        std::uint64_t print = 0;  // of what was there; without a number only
    };

    /// False when the folder is not there.
    bool ask_kernel(Watched& watched);

    void open();

    const Ask ask_;
    Fd fd_;
    std::string trouble_;
    std::vector<Watched> watched_;
};

}  // namespace knell
