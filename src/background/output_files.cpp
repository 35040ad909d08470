#include "background/output_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <span>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/text.hpp"
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

/// What a file begins with until its process empties it.
std::string mark_of(const ProcessId& id) {
    return id.text() + '\n';
}

/// Of a file that was never emptied: places are counted behind its mark.
std::int64_t first_base(const ProcessId& id) {
    return -static_cast<std::int64_t>(mark_of(id).size());
}

constexpr const char* base_attribute = "user.knell.base";
/// More is nothing that we have written.
constexpr std::int64_t base_max = std::int64_t{1} << 60;

/// What an earlier daemon has kept with the file.
std::optional<std::int64_t> stored_base(int file) {
    std::array<char, 32> text{};
    const auto size = fgetxattr(file, base_attribute, text.data(), text.size());
    if (size <= 0) return std::nullopt;
    const auto base =
        number_in<std::int64_t>(std::string_view(text.data(), static_cast<std::size_t>(size)));
    return base > 0 && base < base_max ? std::optional(base) : std::nullopt;
}

/// Where a filesystem has no room for it, the next daemon counts anew.
void store_base(int file, std::int64_t base) {
    const auto text = fmt::to_string(base);
    (void)fsetxattr(file, base_attribute, text.data(), text.size(), 0);
}

/// How much of `bytes` could be read; -1: errno says why.
ssize_t read_at(int file, std::span<char> bytes, std::int64_t offset) {
    std::size_t got = 0;
    while (got < bytes.size()) {
        const auto part = pread(file, bytes.data() + got, bytes.size() - got,
                                offset + static_cast<std::int64_t>(got));
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) return -1;
        if (part == 0) break;
        got += static_cast<std::size_t>(part);
    }
    return static_cast<ssize_t>(got);
}

/// The offset of its first byte: one that was cut begins with a hole.
std::int64_t first_data(int file, std::int64_t size) {
    const auto data = lseek(file, 0, SEEK_DATA);
    if (data >= 0) return std::min(data, size);
    return errno == ENXIO ? size : 0;  // nothing but a hole, or a filesystem that does not tell
}

}  // namespace

OutputFiles::OutputFiles(std::string folder, Fd directory)
    : folder_(std::move(folder)), directory_(std::move(directory)) {}

Result<std::unique_ptr<OutputFiles>> OutputFiles::open(const std::string& folder) {
    if (auto made = make_private_directories(folder); !made) return std::unexpected(made.error());
    auto directory = open_inner_directory(folder);
    if (!directory) return std::unexpected(std::move(directory.error()));
    return std::unique_ptr<OutputFiles>(new OutputFiles(folder, std::move(*directory)));
}

Result<Fd> OutputFiles::create(const ProcessId& id) {
    const auto name = name_of(id);
    constexpr int flags = O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    Fd file{openat(directory_.get(), name.c_str(), flags, 0600)};
    int error = errno;
    if (file) {
        const auto mark = mark_of(id);
        const auto written = pwrite(file.get(), mark.data(), mark.size(), 0);
        if (written == static_cast<ssize_t>(mark.size())) return file;
        error = written < 0 ? errno : ENOSPC;
        remove(id);
    }
    const auto path = folder_ + '/' + name;
    if (error == EEXIST) return fail(ErrorCode::blocked, path + " is there already; remove it");
    return cannot("make the file for its output,", path, error);
}

void OutputFiles::remove(const ProcessId& id) {
    unlinkat(directory_.get(), name_of(id).c_str(), 0);
    const Lock lock(mutex_);
    known_.erase(id);
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

std::unexpected<Error> OutputFiles::cannot_read(const ProcessId& id, int error) const {
    return cannot("read", folder_ + '/' + name_of(id), error);
}

Result<OutputFiles::Layout> OutputFiles::look(const ProcessId& id, int file) const {
    const Lock lock(mutex_);
    return look_locked(id, file);
}

Result<bool> OutputFiles::was_emptied(const ProcessId& id, int file, std::int64_t size,
                                      const Known& known) const {
    if (size < known.size) return true;
    // Without its mark already.
    if (known.cut_to || known.base != first_base(id)) return false;
    if (size > 0 && first_data(file, size) > 0) return false;  // an earlier daemon has cut it
    const auto has_mark = begins_with_mark(id, file);
    if (!has_mark) return std::unexpected(has_mark.error());
    return !*has_mark;
}

Result<bool> OutputFiles::begins_with_mark(const ProcessId& id, int file) const {
    const auto mark = mark_of(id);
    std::string start(mark.size(), '\0');
    if (read_at(file, start, 0) < 0) return cannot_read(id, errno);
    return start == mark;
}

/// The size is asked for under the lock: one from before another's look would seem to be emptied.
Result<OutputFiles::Layout> OutputFiles::look_locked(const ProcessId& id, int file) const {
    struct stat found{};
    // Only what we made counts, whatever has its name by now.
    if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode) || found.st_uid != geteuid()) {
        return fail(ErrorCode::not_found, "none of its output is kept");
    }
    const std::int64_t size = found.st_size;
    const auto [at, is_new] = known_.try_emplace(id);
    auto& known = at->second;
    if (is_new) known.base = stored_base(file).value_or(first_base(id));
    const auto emptied = was_emptied(id, file, size, known);
    if (!emptied) return std::unexpected(emptied.error());
    if (*emptied) {
        known.base += std::max(known.size, -known.base) + 1;
        known.cut_to.reset();
        store_base(file, known.base);
    }
    // Behind the mark, if it is there.
    auto begin = std::max(known.cut_to.value_or(first_data(file, size)), -known.base);
    if (begin == 0 && size > 0) {
        // One that was made shorter, not empty, still has it.
        const auto has_mark = begins_with_mark(id, file);
        if (!has_mark) return std::unexpected(has_mark.error());
        if (*has_mark) begin = -first_base(id);
    }
    const Layout layout{.base = known.base, .begin = std::min(begin, size), .size = size};
    known.size = layout.size;
    // Nobody would ever forget one that has been removed.
    if (found.st_nlink == 0) known_.erase(at);
    return layout;
}

Result<OutputSlice> OutputFiles::read(const ProcessId& id, std::optional<std::int64_t> after,
                                      std::size_t limit) const {
    const auto file = open_file(id, O_RDONLY);
    const int error = errno;
    if (!file && is_shortage(error)) return cannot_read(id, error);
    if (!file) return fail(ErrorCode::not_found, "none of its output is kept");
    const auto layout = look(id, file.get());
    if (!layout) return std::unexpected(layout.error());
    const auto room = static_cast<std::int64_t>(limit);
    const auto last = std::max(layout->size - room, layout->begin) + layout->base;
    const auto wanted = std::min(after.value_or(last), layout->end_place());
    OutputSlice slice{.bytes = {}, .after = std::max(wanted, layout->begin_place()), .gap = {}};
    slice.bytes.resize(static_cast<std::size_t>(std::min(layout->end_place() - slice.after, room)));
    const auto got = read_at(file.get(), slice.bytes, slice.after - layout->base);
    if (got < 0) return cannot_read(id, errno);
    slice.bytes.resize(static_cast<std::size_t>(got));
    // What was cut off while it was read is full of zeros now; of one that was emptied nobody knows
    // what was read.
    const auto then = look(id, file.get());
    if (!then) return std::unexpected(then.error());
    const auto whole_from = then->begin_place();
    if (whole_from > slice.after) {
        const bool is_same = then->base == layout->base;
        const auto bytes = static_cast<std::size_t>(whole_from - slice.after);
        slice.bytes.erase(0, is_same ? bytes : std::string::npos);
        slice.after = whole_from;
    }
    if (slice.after > wanted) slice.gap = {wanted, slice.after - 1};
    slice.next = slice.after + static_cast<std::int64_t>(slice.bytes.size());
    slice.more = slice.next < (then->base == layout->base ? *layout : *then).end_place();
    return slice;
}

std::optional<OutputFiles::Size> OutputFiles::trim(const ProcessId& id, std::int64_t bytes_max) {
    const auto file = open_file(id, O_RDWR);
    if (!file) return std::nullopt;
    const Lock lock(mutex_);
    const auto layout = look_locked(id, file.get());
    if (!layout) return std::nullopt;
    const Size as_it_is{layout->end_place(), layout->begin_place()};
    if (layout->size - layout->begin <= bytes_max + bytes_max / 4) return as_it_is;
    // Whole blocks: of one that is cut in two the rest would stay, as zeros.
    struct stat found{};
    if (fstat(file.get(), &found) != 0) return as_it_is;
    const auto kept = layout->size - bytes_max;
    const auto to = punches_holes_ ? kept - kept % found.st_blksize : layout->size;
    if (to <= layout->begin) return as_it_is;
    const auto from = layout->begin - layout->begin % found.st_blksize;
    if (!cut(file.get(), from, to, layout->size)) {
        punches_holes_ = false;
        return as_it_is;
    }
    const auto at = known_.find(id);
    if (at != known_.end()) at->second.cut_to = to;
    return Size{layout->end_place(), to + layout->base};
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
