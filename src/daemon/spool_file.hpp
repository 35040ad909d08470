#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "platform/fd.hpp"
#include "platform/file_calls.hpp"

namespace knell {

namespace limits {

inline constexpr std::size_t spool_file_bytes_max = 1U << 20U;
inline constexpr std::size_t spool_lines_max = 1000;       // of one file
inline constexpr std::size_t spool_files_max = 10'000;     // found in one look
inline constexpr std::size_t spool_files_at_once_max = 8;  // open and locked

}  // namespace limits

/// A file of the spool, locked so that nobody adds to it, and what it holds.
struct SpoolFile {
    Fd lock;
    std::string text;
};

/// Nothing while somebody writes to it, when it is gone, or when descriptors have run out: look
/// again later.  An error says why it can never be taken in.  Never opens anything but a regular
/// file of ours: a pipe would hold us up, a link lead us elsewhere, a device do who knows what.
Result<std::optional<SpoolFile>> open_spool_file(const std::string& path,
                                                 const FileCalls& calls = {});

/// The files that are there, at most limits::spool_files_max.
std::vector<std::string> find_spool_files(const std::string& spool_dir);

/// Renames it to *.bad, or to *.bad.2 and so on where that name is taken: nothing is ever deleted.
/// The new name, or what is wrong.
Result<std::string> set_aside(const std::string& path);

}  // namespace knell
