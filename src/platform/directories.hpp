#pragma once

#include <string>

#include "core/error.hpp"
#include "platform/fd.hpp"

namespace knell {

/// Makes `path` and the parents it lacks, each 0700.  What exists already is left as it is.
Result<void> make_private_directories(const std::string& path);

/// Opens a directory (O_PATH) that decides who can reach what is in it: it must be ours, and is
/// closed to others where it was not; one that all users share is refused.  The path itself may be
/// a link that is ours or root's; what counts is where it leads.
Result<Fd> open_private_directory(const std::string& path);

/// Opens (O_PATH) a directory that only we ever make, inside one that is private.  Nothing else is
/// used in its place, or changed: a link is refused, and what others own or may write to.  One that
/// others could only read is closed to them.
Result<Fd> open_inner_directory(const std::string& path);

}  // namespace knell
