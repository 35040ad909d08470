#include "platform/folder_watch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace knell {

namespace {

// Not IN_MODIFY: half of a file is no use to anybody, and its writer closes it.
constexpr std::uint32_t changes = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                  IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;

constexpr std::size_t entries_max = 4096;  // looked at in one folder

std::string reason(std::string_view what, int error) {
    return fmt::format("{}: {}", what, std::generic_category().message(error));
}

void mix(std::uint64_t& print, std::uint64_t value) {
    print = (print ^ value) * 0x100000001b3U;
}

/// Of one entry: what changes when it is written, replaced or given other modes.
std::uint64_t print_of(int folder, const char* name) {
    std::uint64_t print = std::hash<std::string_view>{}(name);
    struct stat found{};
    if (fstatat(folder, name, &found, 0) != 0 &&
        fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) != 0) {
        return print;
    }
    for (const auto value :
         {static_cast<std::int64_t>(found.st_ino), static_cast<std::int64_t>(found.st_size),
          static_cast<std::int64_t>(found.st_mode), found.st_mtim.tv_sec, found.st_mtim.tv_nsec,
          found.st_ctim.tv_sec, found.st_ctim.tv_nsec}) {
        mix(print, static_cast<std::uint64_t>(value));
    }
    return print;
}

/// Of a folder, or of some entries in it; nothing when it cannot be looked at.
std::optional<std::uint64_t> print_of(const std::string& folder,
                                      const std::vector<std::string>& names) {
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(folder.c_str()), closedir);
    if (directory == nullptr) return std::nullopt;
    const int fd = dirfd(directory.get());
    std::uint64_t print = 0;
    if (!names.empty()) {
        for (const auto& name : names) print += print_of(fd, name.c_str());
        return print;
    }
    std::size_t entries = 0;
    while (const auto* entry = readdir(directory.get())) {
        if (++entries > entries_max) break;
        if (std::string_view(entry->d_name) == "..") continue;
        print += print_of(fd, entry->d_name);  // a sum: in whatever order they come
    }
    return print;
}

}  // namespace

int FolderWatch::ask_system() {
    return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

FolderWatch::FolderWatch(Ask ask) : ask_(ask) {
    open();
}

void FolderWatch::open() {
    fd_ = Fd{ask_()};
    if (!fd_) trouble_ = reason("the system grants no inotify instance", errno);
}

bool FolderWatch::ask_kernel(Watched& watched) {
    watched.number = -1;
    if (!fd_) return true;
    watched.number = inotify_add_watch(fd_.get(), watched.folder.c_str(), changes | IN_ONLYDIR);
    if (watched.number >= 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    trouble_ = reason(fmt::format("the system grants no watch of {}", watched.folder), errno);
    return true;
}

void FolderWatch::watch(const std::string& folder, std::vector<std::string> names) {
    Watched watched{-1, folder, std::move(names)};
    const bool is_there = ask_kernel(watched);
    const auto known = std::ranges::find_if(watched_, [&](const Watched& other) {
        return other.folder == folder || (watched.number >= 0 && other.number == watched.number);
    });
    // What has changed since the last look must still be found.
    const bool is_same = known != watched_.end() && known->number == -1 && watched.number == -1 &&
                         known->names == watched.names;
    if (is_same) return;
    if (known != watched_.end()) watched_.erase(known);
    if (!is_there) return;
    if (watched.number == -1) {
        const auto print = print_of(folder, watched.names);
        if (!print) return;
        watched.print = *print;
    }
    watched_.push_back(std::move(watched));
}

bool FolderWatch::look() {
    if (trouble_.empty()) return false;
    trouble_.clear();
    if (!fd_) open();
    bool changed = false;
    std::erase_if(watched_, [&](Watched& watched) {
        if (watched.number >= 0) return false;
        // First asked, then compared: nothing falls between the two.
        const bool is_there = ask_kernel(watched);
        const auto print = print_of(watched.folder, watched.names);
        changed = changed || !is_there || print != watched.print;
        if (print) watched.print = *print;
        return !is_there || (!print && watched.number < 0);
    });
    return changed;
}

bool FolderWatch::take_change() {
    bool changed = false;
    alignas(inotify_event) std::array<char, 4096> buffer;
    for (;;) {
        const auto got = fd_.get() < 0 ? -1 : read(fd_.get(), buffer.data(), buffer.size());
        if (got <= 0) return changed;
        for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
            inotify_event event{};
            std::memcpy(&event, buffer.data() + at, sizeof event);
            const char* name = event.len > 0 ? buffer.data() + at + sizeof event : "";
            at += sizeof event + event.len;
            const auto watched = std::ranges::find(watched_, event.wd, &Watched::number);
            if ((event.mask & IN_Q_OVERFLOW) != 0) changed = true;
            if (watched == watched_.end()) continue;
            if ((event.mask & IN_IGNORED) != 0) {
                watched_.erase(watched);
                changed = true;
                continue;
            }
            changed = changed || watched->names.empty() ||
                      std::ranges::find(watched->names, name) != watched->names.end();
        }
    }
}

}  // namespace knell
