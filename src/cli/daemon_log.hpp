#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "platform/fd.hpp"

namespace knell::cli {

/// The daemon's own log as platform/log_file keeps it: `path` is the newest file, `path`.1 the one
/// before it, and so on.  A daemon in the foreground writes none.

/// The last `lines_max` lines, also of older files.  `not_found` where there is no file.
Result<std::string> last_log_lines(const std::string& path, std::size_t lines_max);

/// Reads what is written to the log from now on, also in the files that take the place of this
/// one.  One thread.
class LogFollower {
  public:
    /// From the end of what is there; `path` need not be there yet.
    explicit LogFollower(std::string path);

    /// What came since; "" when nothing did.  A piece at a time: ask again until there is nothing.
    std::string read_more();

  private:
    bool open_anew();
    std::string read_piece() const;

    const std::string path_;
    Fd file_;
};

}  // namespace knell::cli
