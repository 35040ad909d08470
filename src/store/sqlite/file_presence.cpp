#include "store/sqlite/file_presence.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

namespace knell::sqlite {

FilePresence::FilePresence(const std::string& path)
    : database_(look(path)), log_(look(path + "-wal")) {}

Result<void> FilePresence::check() const {
    for (const auto* file : {&database_, &log_}) {
        if (!*file) continue;
        const auto now = look((*file)->path);
        if (now && now->device == (*file)->device && now->inode == (*file)->inode) continue;
        return fail(ErrorCode::storage,
                    fmt::format("{} was {} while the daemon runs: nothing is recorded any more. "
                                "Put it back, or restore a backup, then: knell down; knell up "
                                "--detach",
                                (*file)->path, now ? "replaced" : "deleted or moved"));
    }
    return {};
}

std::optional<FilePresence::File> FilePresence::look(const std::string& path) {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0) return std::nullopt;
    return File{path, found.st_dev, found.st_ino};
}

}  // namespace knell::sqlite
