#include "platform/file_kind.hpp"

#include <sys/stat.h>

namespace knell {

std::string why_no_file(const std::string& path) {
    struct stat found{};
    if (::lstat(path.c_str(), &found) != 0) return "";
    switch (found.st_mode & S_IFMT) {
        case S_IFREG:
            return "";
        case S_IFDIR:
            return "it is a directory; move it away";
        case S_IFIFO:
            return "it is a named pipe; move it away";
        case S_IFSOCK:
            return "it is a socket; move it away";
        case S_IFLNK:
            return "it is a symbolic link; replace it by the file itself, or move it away";
        default:
            return "it is a device; move it away";
    }
}

}  // namespace knell
