#include "daemon/spool_file.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace knell {

namespace {

namespace fs = std::filesystem;

constexpr int bad_names_max = 1000;

std::unexpected<Error> cannot_take(std::string why) {
    return fail(ErrorCode::storage, std::move(why));
}

/// It may well work later, or there is nothing to do any more.
bool may_pass(int error) {
    return error == ENOENT || error == EMFILE || error == ENFILE || error == ENOMEM ||
           error == EINTR || error == EIO;
}

Result<std::optional<std::string>> read_all(int file, const FileCalls& calls) {
    std::string text;
    std::array<char, 16'384> piece{};
    while (text.size() <= limits::spool_file_bytes_max) {
        const auto got = calls.read(file, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            if (may_pass(errno)) return std::nullopt;
            return cannot_take(std::generic_category().message(errno));
        }
        if (got == 0) return text;
        text.append(piece.data(), static_cast<std::size_t>(got));
    }
    return cannot_take(fmt::format("it is larger than {} bytes", limits::spool_file_bytes_max));
}

}  // namespace

Result<std::optional<SpoolFile>> open_spool_file(const std::string& path, const FileCalls& calls) {
    // Looks without opening: what is looked at is what is opened next.
    const Fd entry{calls.open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC, 0)};
    struct stat found{};
    if (!entry || calls.fstat(entry.get(), &found) != 0) {
        if (may_pass(errno)) return std::nullopt;
        return cannot_take(std::generic_category().message(errno));
    }
    if (!S_ISREG(found.st_mode)) return cannot_take("it is not a regular file");
    if (found.st_uid != geteuid()) {
        return cannot_take(fmt::format("it belongs to another user (uid {})", found.st_uid));
    }
    Fd file{calls.open(fmt::format("/proc/self/fd/{}", entry.get()).c_str(),
                       O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0)};
    if (!file) {
        if (may_pass(errno)) return std::nullopt;
        return cannot_take(std::generic_category().message(errno));
    }
    if (calls.flock(file.get(), LOCK_EX | LOCK_NB) != 0) return std::nullopt;
    // Taken in and deleted between the two.
    if (calls.fstat(file.get(), &found) != 0 || found.st_nlink == 0) return std::nullopt;
    auto text = read_all(file.get(), calls);
    if (!text) return std::unexpected(text.error());
    if (!*text) return std::nullopt;
    return SpoolFile{std::move(file), std::move(**text)};
}

std::vector<std::string> find_spool_files(const std::string& spool_dir) {
    std::vector<std::string> files;
    std::error_code error;
    for (fs::directory_iterator entry(spool_dir, error), end;
         !error && entry != end && files.size() < limits::spool_files_max; entry.increment(error)) {
        if (entry->path().extension() == ".jsonl") files.push_back(entry->path());
    }
    return files;
}

Result<std::string> set_aside(const std::string& path) {
    for (int number = 1; number <= bad_names_max; ++number) {
        auto bad = number == 1 ? path + ".bad" : fmt::format("{}.bad.{}", path, number);
        struct stat taken{};
        if (lstat(bad.c_str(), &taken) == 0) continue;
        if (std::rename(path.c_str(), bad.c_str()) == 0) return bad;
        return fail(ErrorCode::storage, fmt::format("it cannot be renamed: {}",
                                                    std::generic_category().message(errno)));
    }
    return fail(ErrorCode::limit, "there are too many of its name; remove some");
}

}  // namespace knell
