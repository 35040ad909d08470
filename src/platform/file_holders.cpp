#include "platform/file_holders.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.hpp"
#include "platform/fd.hpp"
#include "platform/proc_stat.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

struct FileId {
    dev_t device = 0;
    ino_t inode = 0;

    bool operator==(const FileId&) const = default;
};

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

/// The names in a folder that are numbers.
std::vector<pid_t> numbers_in(DIR* directory) {
    std::vector<pid_t> numbers;
    while (const auto* entry = ::readdir(directory)) {
        const std::string_view name = entry->d_name;
        pid_t number = 0;
        const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
        if (problem == std::errc{} && end == name.data() + name.size()) numbers.push_back(number);
    }
    return numbers;
}

std::string command_of(const std::string& folder) {
    auto line = read_small_file(folder + "/cmdline").value_or("");
    std::ranges::replace(line, '\0', ' ');
    if (trimmed(line).empty()) line = read_small_file(folder + "/comm").value_or("");
    return printable_line(cut_text(trimmed(line), 200));
}

enum class Held : std::uint8_t { yes, no, cannot_tell };

Held holds(const std::string& folder, const std::vector<FileId>& files) {
    const Directory directory(::opendir((folder + "/fd").c_str()));
    // A process that has ended meanwhile holds nothing.
    if (!directory) return errno == ENOENT || errno == ESRCH ? Held::no : Held::cannot_tell;
    for (const auto number : numbers_in(directory.get())) {
        struct stat seen{};
        const auto name = std::to_string(number);
        if (::fstatat(::dirfd(directory.get()), name.c_str(), &seen, 0) != 0) continue;
        if (std::ranges::find(files, FileId{seen.st_dev, seen.st_ino}) != files.end()) {
            return Held::yes;
        }
    }
    return Held::no;
}

}  // namespace

FileHolders find_file_holders(const std::vector<std::string>& paths, const std::string& proc) {
    FileHolders found;
    std::vector<FileId> files;
    for (const auto& path : paths) {
        struct stat seen{};
        if (::stat(path.c_str(), &seen) == 0) files.push_back({seen.st_dev, seen.st_ino});
    }
    if (files.empty()) return found;
    const Directory processes(::opendir(proc.c_str()));
    if (!processes) {
        found.unseen.push_back({0, 0, "every process: " + proc + " cannot be read"});
        return found;
    }
    for (const auto pid : numbers_in(processes.get())) {
        if (pid == ::getpid()) continue;
        const auto folder = proc + "/" + std::to_string(pid);
        const auto held = holds(folder, files);
        if (held == Held::no) continue;
        const auto stat = read_proc_stat(pid);
        if (held == Held::cannot_tell && stat && stat->is_dead()) continue;
        auto& list = held == Held::yes ? found.holders : found.unseen;
        list.push_back({pid, stat ? stat->start_ticks : 0, command_of(folder)});
    }
    return found;
}

}  // namespace knell
