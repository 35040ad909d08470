#include "cli/other_version.hpp"

#include <chrono>

#include <fmt/format.h>
#include <sys/stat.h>

#include "client/connect.hpp"
#include "platform/lock_file.hpp"
#include "platform/version.hpp"

namespace knell::cli {

namespace {

constexpr std::chrono::seconds patience{1};

/// Also where the file was deleted since: the kernel still has it.  True when it cannot be told.
bool runs_this_file(pid_t pid) {
    struct stat ours{};
    struct stat its{};
    if (::stat("/proc/self/exe", &ours) != 0) return true;
    if (::stat(fmt::format("/proc/{}/exe", pid).c_str(), &its) != 0) return true;
    return ours.st_dev == its.st_dev && ours.st_ino == its.st_ino;
}

std::string with_commit(std::string_view number, std::string_view its_commit) {
    return fmt::format("{} ({})", number, its_commit);
}

}  // namespace

std::string words_of_other_version(int pid, const std::string& daemons, const std::string& ours) {
    return fmt::format(
        "knell: the daemon (pid {}) is version {}, and this is {}; to replace it: "
        "knell restart",
        pid, daemons, ours);
}

std::optional<std::string> other_version(const Paths& paths) {
    if (!paths.calls_own_daemon()) return std::nullopt;
    const auto holder = lock_holder(paths.lock_file);
    if (!holder || holder->pid <= 0 || runs_this_file(holder->pid)) return std::nullopt;
    const client::Deadline deadline{patience};
    auto connection = client::connect(paths, deadline);
    if (!connection) return std::nullopt;
    const auto status = connection->call("node.status", {}, deadline);
    const auto* node = status ? status->if_object() : nullptr;
    if (node == nullptr) return std::nullopt;
    auto daemons = with_commit(wire::text_at(*node, "version"), wire::text_at(*node, "commit"));
    auto ours = with_commit(version, commit);
    if (daemons == ours) return std::nullopt;
    return words_of_other_version(holder->pid, daemons, ours);
}

}  // namespace knell::cli
