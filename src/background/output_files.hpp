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
/// Any thread.
class OutputFiles {
  public:
    /// Makes the folder, or closes it to others where it was open to them.
    static Result<std::unique_ptr<OutputFiles>> open(const std::string& folder);

    const std::string& folder() const { return folder_; }
    /// A new file, open for appending.  `blocked` when something has its name.
    Result<Fd> create(const ProcessId& id);
    void remove(const ProcessId& id);
    /// Those that there are.
    std::vector<ProcessId> list() const;

    /// `after`: none: the last `limit` bytes.  `not_found` when there is no such file.
    Result<OutputSlice> read(const ProcessId& id, std::optional<std::int64_t> after,
                             std::size_t limit) const;

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

    Fd open_file(const ProcessId& id, int flags) const;
    std::int64_t begin_of(const ProcessId& id, int file, std::int64_t size) const;
    bool cut(int file, std::int64_t from, std::int64_t to, std::int64_t size) const;

    const std::string folder_;
    const Fd directory_;
    bool punches_holes_ = true;  // until the filesystem refuses; whoever trims

    mutable Mutex mutex_;
    /// Of those that we have cut: said before it is done, so that a reader knows afterwards whether
    /// what it has read was still whole.
    std::map<ProcessId, std::int64_t> begins_ KNELL_GUARDED_BY(mutex_);
};

}  // namespace knell
