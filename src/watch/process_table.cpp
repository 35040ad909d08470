#include "watch/process_table.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "platform/proc_stat.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

std::string read_boot_id() {
    auto text = read_small_file("/proc/sys/kernel/random/boot_id").value_or("");
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

}  // namespace

ProcTable::ProcTable() : boot_id_(read_boot_id()) {}

std::optional<ProcessIdentity> ProcTable::identify(pid_t pid) const {
    const auto found = read_proc_stat(pid);
    if (!found || found->is_dead()) return std::nullopt;
    ProcessIdentity identity;
    identity.pid = pid;
    identity.start_ticks = found->start_ticks;
    identity.boot_id = boot_id_;
    // The namespace of another user's process cannot be read; 0 says so.
    struct stat status {};
    if (stat(fmt::format("/proc/{}/ns/pid", pid).c_str(), &status) == 0) {
        identity.pid_namespace = status.st_ino;
    }
    return identity;
}

}  // namespace knell
