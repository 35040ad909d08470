#include "store/sqlite/file_presence.hpp"

#include <array>
#include <iterator>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace knell::sqlite {

namespace {

/// Never for the database: to close a second descriptor of it would end SQLite's locks on it.  On
/// the log SQLite has none.
bool begins_as_a_log(const std::string& path) {
    // https://www.sqlite.org/fileformat2.html#walformat: the last bit tells the byte order of sums.
    constexpr std::array<unsigned char, 4> magic{0x37, 0x7f, 0x06, 0x82};
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return true;  // out of descriptors: that proves nothing
    std::array<unsigned char, 4> found{};
    const auto got = ::pread(file, found.data(), found.size(), 0);
    ::close(file);
    found.back() &= 0xfeU;
    return got == std::ssize(found) && found == magic;
}

}  // namespace

FilePresence::FilePresence(const std::string& path)
    : database_(look(path)),
      log_(look(path + "-wal")),
      database_bytes_(database_ ? database_->bytes : 0) {}

Result<void> FilePresence::check() const {
    for (const auto* file : {&database_, &log_}) {
        if (!*file) continue;
        const auto what = what_happened_to(**file);
        if (what.empty()) continue;
        return fail(ErrorCode::storage,
                    fmt::format("{} was {} while the daemon runs: nothing is recorded any more. "
                                "Stop it with knell down, put it back or restore a backup, delete "
                                "knell.db-wal and knell.db-shm beside a backup, then: knell up "
                                "--detach",
                                (*file)->path, what));
    }
    return {};
}

std::string_view FilePresence::what_happened_to(const File& file) const {
    const auto now = look(file.path);
    if (!now) return "deleted or moved";
    if (now->device != file.device || now->inode != file.inode) return "replaced";
    const bool is_log = log_ && &file == &*log_;
    if (is_log) return now->bytes == 0 || begins_as_a_log(file.path) ? "" : "truncated";
    if (now->bytes < database_bytes_) return "truncated";
    database_bytes_ = now->bytes;
    return "";
}

std::optional<FilePresence::File> FilePresence::look(const std::string& path) {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0) return std::nullopt;
    return File{path, found.st_dev, found.st_ino, found.st_size};
}

}  // namespace knell::sqlite
