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

/// What tells one moment of a store from another: every batch of a daemon writes some of it.
std::string moment_of(SQLite::Database& database) {
    std::string moment;
    for (const auto* sql :
         {"PRAGMA user_version", "SELECT max(seq) FROM events", "SELECT max(ordinal) FROM sessions",
          "SELECT group_concat(name || '=' || value) FROM (SELECT * FROM node ORDER BY name)"}) {
        moment += database.execAndGet(sql).getString() + "\n";
    }
    return moment;
}

bool is_copy_of(SQLite::Database& database, const std::string& path) {
    std::error_code ignored;
    if (!fs::is_regular_file(fs::symlink_status(path, ignored))) return false;
    try {
        SQLite::Database copy(path, SQLite::OPEN_READONLY);
        return moment_of(copy) == moment_of(database);
    } catch (const SQLite::Exception&) {
        return false;  // something else
    }
}

bool is_there(const std::string& path) {
    std::error_code ignored;
    return fs::symlink_status(path, ignored).type() != fs::file_type::not_found;
}

std::string unfinished_of(const std::string& target) {
    return target + ".tmp";
}

/// "" when the copy is there under that name and will be after a power cut, else why not.
std::string place_copy(SQLite::Database& database, const std::string& target) {
    const auto unfinished = unfinished_of(target);
    ::unlink(unfinished.c_str());  // of one that was cut short
    auto why = copy(database, unfinished);
    if (why.empty() && std::rename(unfinished.c_str(), target.c_str()) != 0) {
        why = std::strerror(errno);
    }
    if (why.empty()) {
        const OpenFile folder(fs::path(target).parent_path().string(), O_RDONLY | O_DIRECTORY);
        if (folder.sync()) return "";
        why = std::strerror(errno);
    }
    ::unlink(unfinished.c_str());
    return why;
}

}  // namespace

Result<std::optional<std::string>> back_up(SQLite::Database& database, const std::string& path,
                                           int schema) {
    const auto first = fmt::format("{}.schema-{}", path, schema);
    auto target = first;
    for (int number = 2; is_there(target); ++number) {
        if (is_copy_of(database, target)) return std::nullopt;
        target = fmt::format("{}.{}", first, number);
    }
    const auto why = place_copy(database, target);
    if (why.empty()) return target;
    return fail(ErrorCode::storage,
                fmt::format("cannot copy {} to {} before this version changes its schema ({}); "
                            "nothing was changed. Free as much space as the store takes, make its "
                            "folder writable, or move away what stands at {}, then start again",
                            path, target, why, unfinished_of(target)));
}

Result<std::string> copy_store(SQLite::Database& database, const std::string& path) {
    auto target = path;
    for (int number = 2; is_there(target); ++number) target = fmt::format("{}.{}", path, number);
    const auto why = place_copy(database, target);
    if (why.empty()) return target;
    return fail(ErrorCode::storage,
                fmt::format("cannot copy the store to {} ({}); nothing was changed. Free as much "
                            "space as the store takes, make its folder writable, or move away what "
                            "stands at {}, then try again",
                            target, why, unfinished_of(target)));
}

}  // namespace knell::sqlite
