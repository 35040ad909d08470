#include "foreign/hermes/snapshot.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foreign/hermes/sqlite_guard.hpp"
#include "platform/fd.hpp"

namespace knell::hermes {

namespace {

namespace fs = std::filesystem;

constexpr int copies_max = 50;  // of one that is written to while it is copied
constexpr std::size_t block_bytes = 1U << 20U;

/// Reading leaves no trace, not even the time of it, where the kernel lets us.
Fd open_quietly(const std::string& path) {
    constexpr int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
    auto file = Fd(::open(path.c_str(), flags | O_NOATIME));
    if (!file && errno == EPERM) file = Fd(::open(path.c_str(), flags));
    return file;
}

/// Of one file: which it is, how long, when it was written, and the bytes at its beginning, where
/// SQLite counts changes of a database and salts a new log.
std::string marks_of(const std::string& path) {
    struct stat seen{};
    if (::stat(path.c_str(), &seen) != 0) return "none\n";
    auto text = fmt::format("{} {} {} {}.{:09}\n", seen.st_dev, seen.st_ino, seen.st_size,
                            seen.st_mtim.tv_sec, seen.st_mtim.tv_nsec);
    std::array<char, 100> head{};
    const auto file = open_quietly(path);
    if (!file) return text + "unreadable\n";
    const auto length = ::pread(file.get(), head.data(), head.size(), 0);
    if (length > 0) text.append(head.data(), static_cast<std::size_t>(length));
    return text;
}

/// A log that only grew still holds what was copied of it.
std::string log_marks_of(const std::string& path) {
    std::array<char, 32> head{};
    const auto file = open_quietly(path);
    if (!file) return "none\n";
    const auto length = ::pread(file.get(), head.data(), head.size(), 0);
    return length > 0 ? std::string(head.data(), static_cast<std::size_t>(length)) : "empty\n";
}

Snapshot::Marks marks(const std::string& path) {
    return {marks_of(path) + log_marks_of(path + "-wal") + marks_of(path + "-journal")};
}

bool has_bytes(const std::string& path) {
    struct stat seen{};
    return ::stat(path.c_str(), &seen) == 0 && seen.st_size > 0;
}

/// "" when it was copied, or is not there.
std::string copy_file(const std::string& from, const std::string& to) {
    const auto source = open_quietly(from);
    if (!source) return errno == ENOENT ? "" : std::strerror(errno);
    const Fd target(
        ::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!target) return std::strerror(errno);
    std::vector<char> block(block_bytes);
    for (;;) {
        const auto length = ::read(source.get(), block.data(), block.size());
        if (length < 0 && errno == EINTR) continue;
        if (length < 0) return std::strerror(errno);
        if (length == 0) return "";
        for (ssize_t done = 0; done < length;) {
            const auto part =
                ::write(target.get(), block.data() + done, static_cast<std::size_t>(length - done));
            if (part < 0 && errno != EINTR) return std::strerror(errno);
            done += std::max<ssize_t>(part, 0);
        }
    }
}

/// A folder that nobody else can look into; gone with this.
class PrivateFolder {
  public:
    PrivateFolder() {
        const auto* chosen = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
        // A copy may be large, and /tmp is often memory.
        auto pattern = std::string(chosen != nullptr && *chosen != '\0' ? chosen : "/var/tmp") +
                       "/knell-copy-XXXXXX";
        if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
    }
    ~PrivateFolder() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    PrivateFolder(const PrivateFolder&) = delete;
    PrivateFolder& operator=(const PrivateFolder&) = delete;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

std::string percent_encoded(std::string_view path) {
    std::string encoded;
    for (const char letter : path) {
        const bool is_special = letter == '%' || letter == '?' || letter == '#';
        if (is_special) {
            encoded += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
        } else {
            encoded += letter;
        }
    }
    return encoded;
}

std::unique_ptr<SQLite::Database> open_in_place(const std::string& path) {
    auto database = std::make_unique<SQLite::Database>(
        fmt::format("file:{}?immutable=1", percent_encoded(fs::absolute(path).string())),
        SQLite::OPEN_READONLY | SQLite::OPEN_URI | SQLite::OPEN_NOMUTEX);
    database->exec("PRAGMA query_only = ON");
    return database;
}

/// With its log and journal played back, which is why it is written to.
std::unique_ptr<SQLite::Database> open_copy(const std::string& path) {
    auto database =
        std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE | SQLite::OPEN_NOMUTEX);
    // Without an index of the log beside it; the first read opens every file there is.
    database->exec("PRAGMA locking_mode = EXCLUSIVE");
    database->execAndGet("SELECT count(*) FROM sqlite_master");
    database->exec("PRAGMA query_only = ON");
    return database;
}

/// "" when the pages of every table that is read hang together.
std::string damage_of(SQLite::Database& database) {
    for (const auto* table : {"sessions", "messages"}) {
        if (!database.tableExists(table)) continue;
        const auto said =
            database.execAndGet(fmt::format("PRAGMA quick_check({})", table)).getString();
        if (said != "ok") return said;
    }
    return "";
}

std::unexpected<Error> cannot_copy(const std::string& path, std::string_view why) {
    return fail(ErrorCode::storage,
                fmt::format("cannot make a private copy of {} to read ({}); nothing of it was "
                            "touched. Free some space in TMPDIR, or name another, then try again",
                            path, why));
}

}  // namespace

Snapshot::Snapshot(std::string path, How how, Marks marks,
                   std::unique_ptr<SQLite::Database> database)
    : path_(std::move(path)), how_(how), marks_(std::move(marks)), database_(std::move(database)) {}
Snapshot::Snapshot(Snapshot&&) noexcept = default;
Snapshot::~Snapshot() = default;

bool Snapshot::is_valid() const {
    return how_ == How::copied ||
           (marks(path_) == marks_ && !has_bytes(path_ + "-wal") && !has_bytes(path_ + "-journal"));
}

Result<Snapshot> Snapshot::take(const std::string& path, bool in_use) {
    struct stat seen{};
    if (::stat(path.c_str(), &seen) != 0 || !S_ISREG(seen.st_mode)) {
        return fail(ErrorCode::not_found, fmt::format("there is no database {}", path));
    }
    if (::access(path.c_str(), R_OK) != 0) {
        return fail(ErrorCode::storage,
                    fmt::format("cannot read {} ({}); run this as the user it belongs to", path,
                                std::strerror(errno)));
    }
    if (!in_use && !has_bytes(path + "-wal") && !has_bytes(path + "-journal")) {
        return guarded(path, [&]() -> Result<Snapshot> {
            auto now = marks(path);
            auto database = open_in_place(path);
            database->execAndGet("SELECT count(*) FROM sqlite_master");
            return Snapshot(path, How::in_place, std::move(now), std::move(database));
        });
    }
    const PrivateFolder folder;
    if (folder.path().empty()) return cannot_copy(path, std::strerror(errno));
    const auto copy = folder.path() + "/state.db";
    std::string damage;
    for (int attempt = 0; attempt < copies_max; ++attempt) {
        const auto before = marks(path);
        // The log last: what it holds beyond the database comes after it.
        for (const auto* part : {"", "-journal", "-wal"}) {
            std::error_code ignored;
            fs::remove(copy + part, ignored);
            if (auto why = copy_file(path + part, copy + part); !why.empty()) {
                return cannot_copy(path, why);
            }
        }
        if (marks(path) != before) continue;
        auto opened = guarded(path, [&]() -> Result<std::unique_ptr<SQLite::Database>> {
            auto database = open_copy(copy);
            damage = damage_of(*database);
            return database;
        });
        if (!opened) return std::unexpected(opened.error());
        if (damage.empty()) return Snapshot(path, How::copied, {}, std::move(*opened));
    }
    if (!damage.empty()) {
        return fail(ErrorCode::storage,
                    fmt::format("{} is damaged ({}); nothing of it was touched. Hermes may repair "
                                "it: hermes sessions repair",
                                path, damage));
    }
    return fail(ErrorCode::blocked,
                fmt::format("{} is written to faster than it can be copied; stop what writes to "
                            "it, or try again later",
                            path));
}

}  // namespace knell::hermes
