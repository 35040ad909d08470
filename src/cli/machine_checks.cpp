#include "cli/machine_checks.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <pwd.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/text.hpp"
#include "cli/table.hpp"
#include "platform/fd.hpp"
#include "platform/small_file.hpp"

namespace knell::cli {

namespace {

constexpr std::array<std::string_view, 3> state_names{"good", "warning", "bad"};

/// A daemon refuses to start below this, and is cramped below the other.
constexpr std::uint64_t descriptors_least = 64;
constexpr std::uint64_t descriptors_roomy = 4096;
constexpr std::uint64_t inotify_instances_roomy = 16;

struct FileSystem {
    long magic;
    std::string_view name;
};
constexpr std::array file_systems{
    FileSystem{EXT4_SUPER_MAGIC, "ext4"},   FileSystem{0x58465342, "xfs"},
    FileSystem{BTRFS_SUPER_MAGIC, "btrfs"}, FileSystem{0x2fc12fc1, "zfs"},
    FileSystem{0xF2F52010, "f2fs"},         FileSystem{OVERLAYFS_SUPER_MAGIC, "overlay"},
    FileSystem{TMPFS_MAGIC, "tmpfs"},       FileSystem{RAMFS_MAGIC, "ramfs"},
    FileSystem{NFS_SUPER_MAGIC, "nfs"},     FileSystem{0xff534d42, "cifs"},
    FileSystem{0xfe534d42, "smb"},          FileSystem{FUSE_SUPER_MAGIC, "fuse"},
};

std::string words_of(int error) {
    return std::generic_category().message(error);
}

/// Whether a kernel of that release is that old, or newer.
bool is_at_least(std::string_view release, int major, int minor) {
    const int its_major = number_in<int>(release);
    const auto dot = release.find('.');
    const int its_minor =
        dot == std::string_view::npos ? 0 : number_in<int>(release.substr(dot + 1));
    return its_major > major || (its_major == major && its_minor >= minor);
}

MachineCheck check_kernel(const MachineFacts& facts) {
    MachineCheck check{"kernel", CheckState::good, facts.kernel, {}};
    if (is_at_least(facts.kernel, 6, 15)) return check;
    check.state = CheckState::warning;
    check.advice =
        "before Linux 6.15 how an owner ended that somebody else waited for may be unknown "
        "(owner_lost)";
    return check;
}

MachineCheck check_pidfd(const MachineFacts& facts) {
    if (facts.pidfd_error == 0) return {"pidfd", CheckState::good, "granted", {}};
    return {
        "pidfd", CheckState::warning, words_of(facts.pidfd_error),
        "owners are looked at every second instead of being told of; use Linux 5.3 or newer, and "
        "a sandbox that allows pidfd_open"};
}

MachineCheck check_inotify(const MachineFacts& facts) {
    if (facts.inotify_error != 0) {
        return {"inotify", CheckState::warning, words_of(facts.inotify_error),
                "changed files are looked for every 3 seconds; raise it with: sysctl "
                "fs.inotify.max_user_instances=512"};
    }
    const auto most = facts.inotify_instances;
    if (most == 0 || most >= inotify_instances_roomy) {
        return {"inotify",
                CheckState::good,
                most == 0 ? "granted" : fmt::format("{} instances a user", most),
                {}};
    }
    return {"inotify", CheckState::warning, fmt::format("{} instances a user", most),
            "editors may take them all; raise it with: sysctl fs.inotify.max_user_instances=512"};
}

MachineCheck check_descriptors(const MachineFacts& facts) {
    const auto most = facts.descriptors_max;
    const auto found = fmt::format("{} at most", most);
    if (most >= descriptors_roomy) return {"descriptors", CheckState::good, found, {}};
    const bool is_bad = most < descriptors_least;
    return {"descriptors", is_bad ? CheckState::bad : CheckState::warning, found,
            is_bad
                ? "no daemon starts with fewer than 64; raise the hard limit (ulimit -Hn)"
                : "many sessions, hooks and clients need more; raise the hard limit (ulimit -Hn)"};
}

MachineCheck check_lingering(const MachineFacts& facts) {
    if (!facts.has_systemd) return {"lingering", CheckState::good, "no systemd here", {}};
    if (facts.has_linger) return {"lingering", CheckState::good, "enabled", {}};
    return {"lingering", CheckState::warning, "not enabled",
            "a daemon under the user's systemd ends with the last login: loginctl enable-linger"};
}

MachineCheck check_disk(const MachineFacts& facts) {
    const auto where = fmt::format(
        "{}{}", facts.file_system.empty() ? "" : facts.file_system + " at ", facts.state_dir);
    if (facts.sync_error != 0) {
        return {
            "disk sync", CheckState::bad, fmt::format("{}: {}", where, words_of(facts.sync_error)),
            "what was acknowledged could be lost in a power cut; give knell another KNELL_HOME"};
    }
    for (const auto* forgets : {"tmpfs", "ramfs"}) {
        if (facts.file_system != forgets) continue;
        return {"disk sync", CheckState::warning, where,
                "the record is in memory and gone after a restart; give knell another KNELL_HOME"};
    }
    for (const auto* remote : {"nfs", "cifs", "smb", "fuse"}) {
        if (facts.file_system != remote) continue;
        return {"disk sync", CheckState::warning, where,
                "locks and syncs of such file systems cannot be relied on; give knell a local "
                "KNELL_HOME"};
    }
    return {"disk sync", CheckState::good, where, {}};
}

Tone tone_of(CheckState state) {
    switch (state) {
        case CheckState::good:
            return Tone::good;
        case CheckState::warning:
            return Tone::warning;
        case CheckState::bad:
            return Tone::bad;
    }
    return Tone::plain;
}

/// The nearest directory that is there already: nothing is made only to look.
std::string nearest_folder(const std::string& path) {
    std::filesystem::path folder(path);
    std::error_code error;
    while (!std::filesystem::is_directory(folder, error) && folder.has_relative_path()) {
        folder = folder.parent_path();
    }
    return folder.string();
}

/// In a file without a name, which leaves nothing behind.
int try_sync(const std::string& folder) {
    const Fd file{::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)};
    // Not every file system has those; that says nothing of its syncs.
    if (!file) return errno == EOPNOTSUPP || errno == EISDIR ? 0 : errno;
    if (::write(file.get(), "x", 1) != 1) return errno;
    return ::fdatasync(file.get()) == 0 ? 0 : errno;
}

std::string file_system_of(const std::string& folder) {
    struct statfs found{};
    if (::statfs(folder.c_str(), &found) != 0) return {};
    const auto known =
        std::ranges::find(file_systems, static_cast<long>(found.f_type), &FileSystem::magic);
    return known == file_systems.end() ? std::string() : std::string(known->name);
}

std::string user_name() {
    const auto* user = ::getpwuid(::geteuid());
    return user == nullptr ? std::string() : std::string(user->pw_name);
}

}  // namespace

MachineFacts look_at_machine(const Paths& paths) {
    MachineFacts facts;
    utsname system{};
    if (::uname(&system) == 0) facts.kernel = system.release;
    const Fd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0U))};
    if (!pidfd) facts.pidfd_error = errno;
    const Fd inotify{::inotify_init1(IN_CLOEXEC)};
    if (!inotify) facts.inotify_error = errno;
    facts.inotify_instances = number_in<std::uint64_t>(
        read_small_file("/proc/sys/fs/inotify/max_user_instances").value_or(""));
    rlimit descriptors{};
    if (::getrlimit(RLIMIT_NOFILE, &descriptors) == 0) facts.descriptors_max = descriptors.rlim_max;
    facts.has_systemd = ::access("/run/systemd/system", F_OK) == 0;
    facts.has_linger = ::access(("/var/lib/systemd/linger/" + user_name()).c_str(), F_OK) == 0;
    facts.state_dir = nearest_folder(paths.state_dir);
    facts.file_system = file_system_of(facts.state_dir);
    facts.sync_error = try_sync(facts.state_dir);
    return facts;
}

std::vector<MachineCheck> judge(const MachineFacts& facts) {
    return {check_kernel(facts),      check_pidfd(facts),     check_inotify(facts),
            check_descriptors(facts), check_lingering(facts), check_disk(facts)};
}

std::string machine_report(const std::vector<MachineCheck>& checks, const Terminal& terminal) {
    Table table({{.title = "THIS MACHINE"},
                 {.title = "STATE"},
                 {.title = "FOUND", .shrink_to = 16},
                 {.title = "WHAT TO DO", .shrink_to = 24}});
    for (const auto& check : checks) {
        table.add({{check.name},
                   {std::string(state_names.at(static_cast<std::size_t>(check.state))),
                    tone_of(check.state)},
                   {check.found},
                   {check.advice}});
    }
    return table.render(terminal);
}

JsonObject machine_json(const std::vector<MachineCheck>& checks) {
    JsonArray rows;
    for (const auto& check : checks) {
        JsonObject row{{"name", check.name},
                       {"state", state_names.at(static_cast<std::size_t>(check.state))},
                       {"found", check.found}};
        if (!check.advice.empty()) row["advice"] = check.advice;
        rows.emplace_back(std::move(row));
    }
    return {{"machine", std::move(rows)}};
}

bool may_run(const std::vector<MachineCheck>& checks) {
    return std::ranges::none_of(
        checks, [](const MachineCheck& check) { return check.state == CheckState::bad; });
}

}  // namespace knell::cli
