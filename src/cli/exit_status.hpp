#pragma once

namespace knell::cli {

/// What every verb but `run` exits with; `run` passes on its command's own.
enum ExitStatus : int {
    exit_done = 0,
    exit_failed = 1,
    exit_usage = 2,
};

}  // namespace knell::cli
