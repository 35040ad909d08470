#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "platform/fd.hpp"

namespace knell {

/// Only we and root can change what a path names, and none but the two can put something else in
/// its place: each directory and each link on the way, and the thing itself, is owned by one of the
/// two and writable by nobody else.
///
/// - A group may write when it is the owner's own (platform/private_group.hpp).
/// - A directory in which everybody may write but only remove what is their own (/tmp) is a safe
///   place on the way, because what it leads to is ours or root's; it is not safe itself.
///
/// The error says what is wrong and what to type; to name the path is the caller's, unless
/// something on the way is at fault.

/// Something that was found to be so, held open: what is done through the descriptors is done to
/// the very thing that was looked at.
struct OwnFile {
    Fd directory;      // that it is in; O_PATH
    std::string name;  // in there; "." for the root
    Fd file;           // O_PATH
    std::string path;  // without links

    /// Opens the same thing again, for reading, whatever has its name by now.
    std::string path_of_descriptor() const;
};

/// `not_found` when there is nothing; `unauthorized` when it is not only ours; `limit` when the
/// system is short of what it takes to look (platform/shortage.hpp).
Result<OwnFile> open_only_ours(const std::string& path);

/// The same without keeping it.
Result<void> check_only_ours(const std::string& path);

/// The whole of a regular file that is only ours.
Result<std::string> read_only_ours(const std::string& path, std::size_t bytes_max);

/// The directories of a $PATH that are only ours and root's.  Relative ones mean something else in
/// another directory, and are left out too.  `limit` when one cannot be looked at for now.
Result<std::string> safe_search_path(std::string_view search_path);

}  // namespace knell
