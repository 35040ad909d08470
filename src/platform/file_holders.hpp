#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace knell {

/// A process that has a file open.
struct FileHolder {
    pid_t pid = 0;
    std::uint64_t start_ticks = 0;
    std::string command;  // what runs, for people

    bool operator==(const FileHolder&) const = default;
};

/// Who has some files open, as far as can be seen from here.
struct FileHolders {
    std::vector<FileHolder> holders;
    /// Processes of which nobody here may ask what they have open.
    std::vector<FileHolder> unseen;
};

/// Looks at what every process but this one has open, by device and inode: a name may lead
/// elsewhere for them.  Files that do not exist are held by nobody.  Processes of other pid
/// namespaces are seen only from one around them.
FileHolders find_file_holders(const std::vector<std::string>& paths,
                              const std::string& proc = "/proc");

}  // namespace knell
