#pragma once

#include <string>
#include <vector>

#include "platform/fd.hpp"
#include "samples.hpp"

namespace knell::bench {

/// What the disk itself costs: 4 KiB written in place, then fdatasync.  In place, as SQLite's log
/// is once it has been round once; a growing file would cost more and flatter us.
class SyncProbe {
  public:
    explicit SyncProbe(const std::string& directory);
    ~SyncProbe();
    SyncProbe(const SyncProbe&) = delete;
    SyncProbe& operator=(const SyncProbe&) = delete;

    /// Microseconds of one write and its fdatasync.
    double once();
    std::vector<double> times(std::size_t count);

  private:
    const std::string path_;
    Fd file_;
    std::size_t next_ = 0;
    std::vector<char> block_;
};

/// Whether files there are only in memory: then nothing measured on it means anything.
bool is_in_memory(const std::string& directory);

/// Removes itself and everything in it.
class TemporaryDirectory {
  public:
    explicit TemporaryDirectory(const std::string& parent);
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace knell::bench
