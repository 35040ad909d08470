#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "core/background_process.hpp"
#include "core/error.hpp"
#include "platform/fd.hpp"

namespace knell {

/// Part of what a process has written, by its place since it was started.
struct OutputSlice {
    std::string bytes;
    std::int64_t after = 0;  // where they begin
    std::int64_t next = 0;   // where the next ones do
    /// Of what was asked for, what is no longer kept: both ends included.
    std::optional<std::pair<std::int64_t, std::int64_t>> gap;
    bool more = false;  // there was more than fitted
};

/// What background processes have written: a file for each, in a folder that is only ours.
///
/// Regular files that the processes append to by themselves: nobody has to read them in time, and
/// nothing breaks when we die.  To keep a file small its beginning is cut out (a hole is punched,
/// and the places of all bytes stay what they were); a filesystem that cannot do that loses all
/// that was written until then.
///
/// A process may empty its own file (`> /dev/stderr` in a script does).  Each file begins with a
/// mark of ours, so that this is seen whenever it was; what is written next gets places behind all
/// that were ever told, and a place between is left out: whoever reads on is told of a gap.  The
/// mark itself is never given out, also where a process has only shortened its file. Where that
/// begins is kept with the file, if the filesystem has extended attributes.
///
/// Any thread.
class OutputFiles {
  public:
    /// Makes the folder.  One that others could read is closed to them; a link, or one that others
    /// own or can write to, is refused and left as it is.
    static Result<std::unique_ptr<OutputFiles>> open(const std::string& folder);

    const std::string& folder() const { return folder_; }
    /// A new file, open for appending.  `blocked` when something has its name.
    Result<Fd> create(const ProcessId& id);
    void remove(const ProcessId& id);
    /// Those that there are.
    std::vector<ProcessId> list() const;

    /// `after`: none: the last `limit` bytes; past the end: nothing, and where that is. `not_found`
    /// when there is no such file.
    Result<OutputSlice> read(const ProcessId& id, std::optional<std::int64_t> after,
                             std::size_t limit) const;

    /// As places.
    struct Size {
        std::int64_t end = 0;    // of all that was ever written
        std::int64_t begin = 0;  // of what is still there
    };
    /// Cuts the beginning off one that holds a quarter more than `bytes_max`.  Nothing when there
    /// is no such file, or it cannot be had for now.  One thread at a time.
    std::optional<Size> trim(const ProcessId& id, std::int64_t bytes_max);

    /// Whether a process may still write to it.
    bool is_written(const ProcessId& id) const;

  private:
    OutputFiles(std::string folder, Fd directory);

    /// What stands at an offset in a file has the place `offset + base`.
    struct Layout {
        std::int64_t base = 0;
        std::int64_t begin = 0;  // offset of what is still there
        std::int64_t size = 0;

        std::int64_t begin_place() const { return begin + base; }
        std::int64_t end_place() const { return size + base; }
    };
    struct Known {
        std::int64_t base = 0;
        std::int64_t size = 0;               // at the last look
        std::optional<std::int64_t> cut_to;  // by us
    };

    Fd open_file(const ProcessId& id, int flags) const;
    std::unexpected<Error> cannot_read(const ProcessId& id, int error) const;
    Result<Layout> look(const ProcessId& id, int file) const;
    Result<bool> was_emptied(const ProcessId& id, int file, std::int64_t size,
                             const Known& known) const;
    Result<bool> begins_with_mark(const ProcessId& id, int file) const;
    Result<Layout> look_locked(const ProcessId& id, int file) const KNELL_REQUIRES(mutex_);
    bool cut(int file, std::int64_t from, std::int64_t to, std::int64_t size) const;

    const std::string folder_;
    const Fd directory_;
    bool punches_holes_ = true;  // until the filesystem refuses; whoever trims

    mutable Mutex mutex_;
    /// Of those that were looked at, until they are removed.
    mutable std::map<ProcessId, Known> known_ KNELL_GUARDED_BY(mutex_);
};

}  // namespace knell
