#include "watch/process_table.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/text.hpp"
#include "platform/kernel_thread.hpp"
#include "platform/proc_stat.hpp"
#include "platform/proc_status.hpp"
#include "platform/small_file.hpp"
#include "watch/process_check.hpp"

namespace knell {

namespace {

std::string read_boot_id() {
    auto text = read_small_file("/proc/sys/kernel/random/boot_id").value_or("");
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

/// `error` is 0 when what was read is no line of a process.
std::string why_unread(int error) {
    return error == 0 ? "what it says cannot be understood"
                      : std::generic_category().message(error);
}

}  // namespace

ProcTable::ProcTable(ProcessCalls calls) : calls_(std::move(calls)), boot_id_(read_boot_id()) {}

std::optional<ProcessIdentity> ProcTable::identify(pid_t pid) const {
    if (namespaces_.own() == 0) return std::nullopt;  // /proc would speak of strangers
    const auto named = read_proc_status(pid);
    if (!named) return std::nullopt;
    const auto found = read_proc_stat(named->process);
    if (!found || (found->is_dead() && !has_living_thread(named->process))) return std::nullopt;
    ProcessIdentity identity;
    identity.pid = named->process;
    identity.start_ticks = found->start_ticks;
    identity.boot_id = boot_id_;
    // A pid that can be seen here counts here, whatever namespace the process itself lives in.
    identity.pid_namespace = namespaces_.own();
    return identity;
}

ProcessSnapshot ProcTable::look_at(pid_t pid) const {
    ProcessSnapshot snapshot{.pidfd = Fd{calls_.pidfd_open(pid)}};
    if (!snapshot.pidfd && errno == ESRCH) {
        snapshot.nobody = true;
        return snapshot;
    }
    // After the descriptor is held the pid cannot be reused: what is read now is about its holder.
    const auto stat = [&] { return calls_.stat(pid); };
    errno = 0;
    auto found = stat();
    if (!found && (errno == EMFILE || errno == ENFILE)) {
        errno = 0;
        found = spare_.lend(stat);
    }
    const int refused = found ? 0 : errno;
    if (found) snapshot.start_ticks = found->start_ticks;
    if (snapshot.pidfd) {
        snapshot.has_ended = calls_.poll_pidfd(snapshot.pidfd.get()) > 0;
    } else if (found) {
        snapshot.has_ended = found->is_dead() && !calls_.has_living_thread(pid);
    } else if (calls_.probe(pid) != 0 && errno == ESRCH) {
        // Takes no descriptor, and sees also what a /proc with hidepid hides.
        snapshot.nobody = true;
    }
    if (!found && !snapshot.has_ended && !snapshot.nobody)
        snapshot.why_unreadable = why_unread(refused);
    return snapshot;
}

std::optional<pid_t> ProcTable::parent_of(pid_t pid) const {
    const auto found = read_proc_stat(pid);
    return found ? std::optional(found->parent) : std::nullopt;
}

std::optional<ProcessLook> ProcTable::look_of(const ProcessIdentity& process) const {
    const auto folder = fmt::format("/proc/{}", process.pid);
    const auto status = read_proc_status(process.pid);
    if (!status || !status->uid) return std::nullopt;
    ProcessLook look{.uid = *status->uid, .argv = {}, .cwd = {}};
    const auto words = read_small_file(folder + "/cmdline").value_or("");
    for (std::string_view rest = words; !rest.empty();) {
        look.argv.emplace_back(take_field(rest, '\0'));
    }
    // A thread of the kernel has none.
    const auto stat = read_small_file(folder + "/stat").value_or("");
    if (look.argv.empty() && !is_kernel_thread(stat)) {
        // It has overwritten them: its short name, as ps shows it.
        const auto name = read_small_file(folder + "/comm").value_or("");
        look.argv.push_back(fmt::format("[{}]", std::string_view(name).substr(0, name.find('\n'))));
    }
    std::error_code unreadable;
    look.cwd = std::filesystem::read_symlink(folder + "/cwd", unreadable).string();
    // Its pid may have been another's while we looked.
    if (identify(process.pid) != process) return std::nullopt;
    return look;
}

bool ProcTable::is_knell(pid_t pid) const {
    struct stat ours{};
    struct stat its{};
    return pid > 0 && ::stat("/proc/self/exe", &ours) == 0 &&
           ::stat(fmt::format("/proc/{}/exe", pid).c_str(), &its) == 0 &&
           ours.st_dev == its.st_dev && ours.st_ino == its.st_ino;
}

Departure ProcTable::exit_of(const ProcessSnapshot& snapshot,
                             const ProcessIdentity& process) const {
    return departure_of(snapshot.pidfd.get(), process);
}

}  // namespace knell
