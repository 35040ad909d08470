#include "client/spool.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/directories.hpp"
#include "platform/fd.hpp"
#include "platform/proc_stat.hpp"
#include "platform/proc_status.hpp"
#include "platform/small_file.hpp"

namespace knell::client {

namespace {

constexpr int format_version = 1;
constexpr int open_attempts_max = 8;

std::unexpected<Error> cannot_write(const std::string& path) {
    const int error = errno;
    return fail(ErrorCode::storage,
                fmt::format("cannot write {}: {}", path, std::generic_category().message(error)));
}

/// Whether that is still the name of the open file.
bool is_named(const struct stat& open_file, const std::string& path) {
    struct stat named{};
    return ::stat(path.c_str(), &named) == 0 && named.st_dev == open_file.st_dev &&
           named.st_ino == open_file.st_ino;
}

/// Opens and locks.  The daemon may have replayed and unlinked the file between the two, or set it
/// aside; what is written to it then is lost, so only a file that has its name is taken.
Result<Fd> open_locked(const std::string& path, const FileCalls& calls) {
    for (int attempt = 0; attempt < open_attempts_max; ++attempt) {
        Fd fd{calls.open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600)};
        if (!fd) return cannot_write(path);
        while (calls.flock(fd.get(), LOCK_EX) != 0) {
            if (errno != EINTR) return cannot_write(path);
        }
        struct stat status{};
        if (calls.fstat(fd.get(), &status) != 0) return cannot_write(path);
        if (is_named(status, path)) return fd;
    }
    return fail(ErrorCode::storage, fmt::format("cannot write {}: it keeps being deleted", path));
}

Result<std::string> read_all(int fd, const std::string& path, const FileCalls& calls) {
    std::string text;
    std::array<char, 4096> piece{};
    for (;;) {
        const auto got = calls.read(fd, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_write(path);
        if (got == 0) return text;
        text.append(piece.data(), static_cast<std::size_t>(got));
    }
}

/// A line that a crash cut short was never said; left there it would spoil the next one.
Result<void> drop_unfinished_line(int fd, const std::string& path, const FileCalls& calls) {
    const auto text = read_all(fd, path, calls);
    if (!text) return std::unexpected(text.error());
    if (text->empty() || text->back() == '\n') return {};
    const auto whole = text->rfind('\n') + 1;  // npos + 1 is 0: there is no whole line
    if (calls.ftruncate(fd, static_cast<off_t>(whole)) != 0) return cannot_write(path);
    return {};
}

Result<void> write_all(int fd, std::string_view text, const std::string& path,
                       const FileCalls& calls) {
    while (!text.empty()) {
        const auto count = calls.write(fd, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return cannot_write(path);
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

/// Without this the file's name may be gone after a power cut, whatever its content.
Result<void> sync_directory(const std::string& path, const FileCalls& calls) {
    const Fd fd{calls.open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)};
    if (!fd || calls.fsync(fd.get()) != 0) return cannot_write(path);
    return {};
}

/// A file of ours in another user's spool would be set aside by that user's daemon, and a directory
/// of ours there be closed to it.  Root comes here, with KNELL_HOME.
Result<void> check_ours(const std::string& path) {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0 || found.st_uid == ::geteuid()) return {};
    return fail(ErrorCode::unauthorized,
                fmt::format("{} belongs to another user (uid {}), whose daemon takes in no records "
                            "of uid {}",
                            path, found.st_uid, ::geteuid()));
}

}  // namespace

std::string spool_line(const SpoolRecord& record) {
    JsonObject object;
    object["v"] = format_version;
    object["at"] = format_rfc3339(record.at);
    object["method"] = record.method;
    object["params"] = record.params;
    return wire::to_text(object) + "\n";
}

std::string spool_file(const std::string& spool_dir, const SessionId& session) {
    return fmt::format("{}/{}.jsonl", spool_dir, session.text());
}

Result<void> append_to_spool(const std::string& spool_dir, const SessionId& session,
                             std::span<const SpoolRecord> records, const FileCalls& calls) {
    if (auto home = check_ours(spool_dir.substr(0, spool_dir.rfind('/'))); !home) return home;
    if (auto made = make_private_directories(spool_dir); !made) return made;
    if (auto ours = check_ours(spool_dir); !ours) return ours;
    const auto path = spool_file(spool_dir, session);
    const auto fd = open_locked(path, calls);
    if (!fd) return std::unexpected(fd.error());
    if (auto dropped = drop_unfinished_line(fd->get(), path, calls); !dropped) return dropped;
    std::string text;
    for (const auto& record : records) text += spool_line(record);
    if (auto written = write_all(fd->get(), text, path, calls); !written) return written;
    if (calls.fdatasync(fd->get()) != 0) return cannot_write(path);
    return sync_directory(spool_dir, calls);
}

Result<void> append_to_spool(const std::string& spool_dir, const SessionId& session,
                             const SpoolRecord& record, const FileCalls& calls) {
    return append_to_spool(spool_dir, session, std::span(&record, 1), calls);
}

JsonObject owner_for_call(pid_t pid) {
    JsonObject owner{{"pid", pid}};
    if (const auto inode = own_pid_namespace()) owner["pid_namespace"] = inode;
    return owner;
}

JsonObject owner_for_spool(pid_t pid) {
    auto owner = owner_for_call(pid);
    const auto stat = read_proc_stat(pid_in_proc(pid));
    if (stat) owner["start_ticks"] = stat->start_ticks;
    if (auto boot = read_small_file("/proc/sys/kernel/random/boot_id")) {
        while (!boot->empty() && boot->back() == '\n') boot->pop_back();
        owner["boot_id"] = *boot;
    }
    return owner;
}

}  // namespace knell::client
