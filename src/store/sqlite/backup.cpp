#include "store/sqlite/backup.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <SQLiteCpp/Backup.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

namespace knell::sqlite {

namespace {

namespace fs = std::filesystem;

/// Closed at the end of its life.
class OpenFile {
  public:
    OpenFile(const std::string& path, int flags, mode_t mode = 0)
        : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
    ~OpenFile() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

    bool is_open() const { return descriptor_ >= 0; }
    bool sync() const { return is_open() && ::fsync(descriptor_) == 0; }

  private:
    int descriptor_;
};

/// "" when the copy is whole and on the disk, else why not.
std::string copy(SQLite::Database& database, const std::string& to) {
    // Made here, so that nobody else can read it at any moment.
    const OpenFile file(to, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (!file.is_open()) return std::strerror(errno);
    try {
        SQLite::Database target(to, SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX);
        // Until it is renamed nobody counts on it, and it is synced before that.
        target.exec("PRAGMA journal_mode = OFF");
        target.exec("PRAGMA synchronous = OFF");
        SQLite::Backup backup(target, database);
        backup.executeStep();
    } catch (const SQLite::Exception& exception) {
        return exception.what();
    }
    return file.sync() ? "" : std::strerror(errno);
}

}  // namespace

std::string backup_path(const std::string& path, int schema) {
    return fmt::format("{}.schema-{}", path, schema);
}

Result<bool> back_up(SQLite::Database& database, const std::string& path, int schema) {
    const auto target = backup_path(path, schema);
    if (::access(target.c_str(), F_OK) == 0) return false;
    const auto unfinished = target + ".tmp";
    ::unlink(unfinished.c_str());  // of a start that was cut short
    auto why = copy(database, unfinished);
    if (why.empty() && std::rename(unfinished.c_str(), target.c_str()) != 0) {
        why = std::strerror(errno);
    }
    if (why.empty()) {
        const OpenFile folder(fs::path(target).parent_path().string(), O_RDONLY | O_DIRECTORY);
        if (folder.sync()) return true;
        why = std::strerror(errno);
    }
    ::unlink(unfinished.c_str());
    return fail(ErrorCode::storage,
                fmt::format("cannot copy {} to {} before this version changes its schema ({}); "
                            "nothing was changed. Free as much space as the store takes, or make "
                            "its folder writable, then start again",
                            path, target, why));
}

}  // namespace knell::sqlite
