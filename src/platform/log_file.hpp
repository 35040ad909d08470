#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <sys/types.h>

namespace knell {

/// A log file behind a descriptor such as standard error, kept to a size: when it is full it is
/// renamed to NAME.1, NAME.1 to NAME.2 and so on, and the descriptor goes on with a new file.  What
/// others write to the descriptor, a crash report above all, lands in the newest.  One thread.
class LogFile {
  public:
    struct Limits {
        std::size_t bytes_max = 8U << 20U;
        int files_max = 4;  // the one that is written to included
    };

    /// Nothing when `descriptor` is not the file at `path` but a terminal, a pipe or another file:
    /// then it is somebody else's to keep.
    static std::optional<LogFile> behind(int descriptor, const std::string& path, Limits limits);

    /// Before a line: rotates when the file is full.
    void rotate_when_full();
    /// Goes on in a new file when somebody moved or deleted this one.
    void stay_in_place();

  private:
    LogFile(int descriptor, std::string path, Limits limits)
        : descriptor_(descriptor),
          path_(std::move(path)),
          limits_(limits),
          full_at_(limits.bytes_max) {}
    void rotate();
    /// False when there can be no new file; the old one goes on.
    bool open_anew();

    int descriptor_;
    std::string path_;
    Limits limits_;
    std::size_t full_at_;  // later than the limit after a rotation that failed
};

}  // namespace knell
