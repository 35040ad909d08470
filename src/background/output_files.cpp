#include "background/output_files.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/directories.hpp"
#include "platform/shortage.hpp"

namespace knell {

namespace {

constexpr std::string_view ending = ".out";

std::string name_of(const ProcessId& id) {
    return id.text() + std::string(ending);
}

std::unexpected<Error> cannot(std::string_view what, const std::string& path, int error) {
    const auto code = is_shortage(error) ? ErrorCode::limit : ErrorCode::storage;
    return fail(
        code, fmt::format("cannot {} {}: {}", what, path, std::generic_category().message(error)));
}

/// Only what we made counts, whatever has its name by now.
std::optional<struct stat> look_at(int file) {
    struct stat found{};
    if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode) || found.st_uid != geteuid()) {
        return std::nullopt;
    }
    return found;
}

}  // namespace

OutputFiles::OutputFiles(std::string folder, Fd directory)
    : folder_(std::move(folder)), directory_(std::move(directory)) {}

Result<std::unique_ptr<OutputFiles>> OutputFiles::open(const std::string& folder) {
    if (auto made = make_private_directories(folder); !made) return std::unexpected(made.error());
    auto directory = open_private_directory(folder);
    if (!directory) return std::unexpected(std::move(directory.error()));
    return std::unique_ptr<OutputFiles>(new OutputFiles(folder, std::move(*directory)));
}

Result<Fd> OutputFiles::create(const ProcessId& id) {
    const auto name = name_of(id);
    constexpr int flags = O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    Fd file{openat(directory_.get(), name.c_str(), flags, 0600)};
    const int error = errno;
    if (file) return file;
    const auto path = folder_ + '/' + name;
    if (error == EEXIST) return fail(ErrorCode::blocked, path + " is there already; remove it");
    return cannot("make the file for its output,", path, error);
}

void OutputFiles::remove(const ProcessId& id) {
    unlinkat(directory_.get(), name_of(id).c_str(), 0);
    const Lock lock(mutex_);
    begins_.erase(id);
}

std::vector<ProcessId> OutputFiles::list() const {
    std::vector<ProcessId> found;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(folder_.c_str()), closedir);
    if (folder == nullptr) return found;
    while (const auto* entry = readdir(folder.get())) {
        const std::string_view name = entry->d_name;
        if (!name.ends_with(ending)) continue;
        std::string id(name.substr(0, name.size() - ending.size()));
        if (!why_not_a_process_id(id)) found.emplace_back(std::move(id));
    }
    return found;
}

Fd OutputFiles::open_file(const ProcessId& id, int flags) const {
    return Fd{
        openat(directory_.get(), name_of(id).c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
}

/// Where its first byte is.  One that an earlier daemon has cut begins with a hole.
std::int64_t OutputFiles::begin_of(const ProcessId& id, int file, std::int64_t size) const {
    {
        const Lock lock(mutex_);
        const auto known = begins_.find(id);
        if (known != begins_.end()) return std::min(known->second, size);
    }
    const auto data = lseek(file, 0, SEEK_DATA);
    if (data >= 0) return std::min(data, size);
    return errno == ENXIO ? size : 0;  // nothing but a hole, or a filesystem that does not tell
}

Result<OutputSlice> OutputFiles::read(const ProcessId& id, std::optional<std::int64_t> after,
                                      std::size_t limit) const {
    const auto file = open_file(id, O_RDONLY);
    const int error = errno;
    if (!file && is_shortage(error)) {
        return cannot("read", folder_ + '/' + name_of(id), error);
    }
    const auto found = file ? look_at(file.get()) : std::nullopt;
    if (!found) return fail(ErrorCode::not_found, "none of its output is kept");
    const std::int64_t size = found->st_size;
    const auto room = static_cast<std::int64_t>(limit);
    const auto begin = begin_of(id, file.get(), size);
    const auto wanted = std::min(after.value_or(std::max(size - room, begin)), size);
    OutputSlice slice{.bytes = {}, .after = std::max(wanted, begin), .gap = {}};
    slice.bytes.resize(static_cast<std::size_t>(std::min(size - slice.after, room)));
    std::size_t got = 0;
    while (got < slice.bytes.size()) {
        const auto part = pread(file.get(), slice.bytes.data() + got, slice.bytes.size() - got,
                                slice.after + static_cast<std::int64_t>(got));
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) return cannot("read", folder_ + '/' + name_of(id), errno);
        if (part == 0) break;  // it was cut to nothing meanwhile
        got += static_cast<std::size_t>(part);
    }
    slice.bytes.resize(got);
    // What was cut off while it was read is full of zeros now.
    const auto whole_from = begin_of(id, file.get(), size);
    if (whole_from > slice.after) {
        slice.bytes.erase(0, static_cast<std::size_t>(whole_from - slice.after));
        slice.after = whole_from;
    }
    if (slice.after > wanted) slice.gap = {wanted, slice.after - 1};
    slice.next = slice.after + static_cast<std::int64_t>(slice.bytes.size());
    slice.more = slice.next < size;
    return slice;
}

std::optional<OutputFiles::Size> OutputFiles::trim(const ProcessId& id, std::int64_t bytes_max) {
    const auto file = open_file(id, O_RDWR);
    const auto found = file ? look_at(file.get()) : std::nullopt;
    if (!found) return std::nullopt;
    const std::int64_t size = found->st_size;
    const auto begin = begin_of(id, file.get(), size);
    if (size - begin <= bytes_max + bytes_max / 4) return Size{size, begin};
    // Whole blocks: of one that is cut in two the rest would stay, as zeros.
    const auto kept = size - bytes_max;
    const auto to = punches_holes_ ? kept - kept % found->st_blksize : size;
    if (to <= begin) return Size{size, begin};
    {
        const Lock lock(mutex_);
        begins_[id] = to;
    }
    if (cut(file.get(), begin, to, size)) return Size{size, to};
    punches_holes_ = false;
    const Lock lock(mutex_);
    begins_[id] = begin;
    return Size{size, begin};
}

bool OutputFiles::cut(int file, std::int64_t from, std::int64_t to, std::int64_t size) const {
    if (punches_holes_) {
        return fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from) == 0;
    }
    // Empty, and as long as before: what is written next has its place as if nothing had happened.
    return ftruncate(file, 0) == 0 && ftruncate(file, size) == 0;
}

bool OutputFiles::is_written(const ProcessId& id) const {
    const auto file = open_file(id, O_RDONLY);
    if (!file) return false;
    // Granted only for a file that nobody has open for writing.  Who opens it right now waits until
    // we give it back, and we are told by a signal: one that does nothing.
    fcntl(file.get(), F_SETSIG, SIGURG);
    if (fcntl(file.get(), F_SETLEASE, F_RDLCK) == 0) {
        fcntl(file.get(), F_SETLEASE, F_UNLCK);
        return false;
    }
    return errno == EAGAIN;
}

}  // namespace knell
