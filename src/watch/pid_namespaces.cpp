#include "watch/pid_namespaces.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/clock.hpp"
#include "platform/fd.hpp"
#include "platform/proc_stat.hpp"
#include "platform/proc_status.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

/// A look at all processes is made on the thread that serves clients: past this many the answer is
/// that it cannot be told.
constexpr std::size_t processes_max = 32'768;
constexpr std::size_t descendants_max = 4'096;
constexpr int ancestors_max = 64;
constexpr std::size_t remembered_max = 1'024;
/// The kernel nests pid namespaces no deeper.
constexpr std::size_t depth_max = 32;

std::uint64_t inode_of(const std::string& path) {
    struct stat status{};
    return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

struct StepsOut {
    bool is_clear = false;             // false: it could not be looked at, or not to the end
    std::optional<std::size_t> steps;  // nothing: it is not among those that can be seen from here
};

/// How many steps outwards from the namespace at `path` the one with this inode is.
StepsOut steps_out(const std::string& path, std::uint64_t wanted) {
    Fd current{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    for (std::size_t steps = 0; current && steps < depth_max; ++steps) {
        struct stat status{};
        if (fstat(current.get(), &status) != 0) return {};
        if (status.st_ino == wanted) return {.is_clear = true, .steps = steps};
        const int parent = ioctl(current.get(), NS_GET_PARENT);
        // What is further outside than ours is refused.
        if (parent < 0 && errno == EPERM) return {.is_clear = true, .steps = {}};
        current = Fd{parent};
    }
    return {};
}

std::uint64_t ticks_since_boot() {
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(
        read_clocks().steady.time_since_epoch());
    return static_cast<std::uint64_t>(time.count() * sysconf(_SC_CLK_TCK) / 1000);
}

std::uint64_t own_namespace_at(const std::string& proc) {
    if (proc != "/proc") return inode_of(proc + "/self/ns/pid");
    return proc_counts_as_we_do() ? own_pid_namespace() : 0;
}

}  // namespace

PidNamespaces::PidNamespaces(std::string proc, std::uint64_t initial)
    : proc_(std::move(proc)), initial_(initial), own_(own_namespace_at(proc_)) {}

std::uint64_t PidNamespaces::of(pid_t pid) const {
    if (own_ == 0 || pid <= 0) return 0;
    if (const auto inode = inode_of(fmt::format("{}/{}/ns/pid", proc_, pid))) return inode;
    // The link may be closed to us; whoever has one name only has it in our namespace.
    const auto status = read_proc_status(pid, proc_);
    return status && status->pids.size() == 1 ? own_ : 0;
}

PidNamespaces::Match PidNamespaces::match(pid_t candidate, const NamedPid& named) const {
    const auto status = read_proc_status(candidate, proc_);
    // Gone since it was listed, or closed to us.
    if (!status) {
        return inode_of(fmt::format("{}/{}", proc_, candidate)) == 0 ? Match::elsewhere
                                                                     : Match::unclear;
    }
    const auto& pids = status->pids;
    if (pids.size() == 1) return Match::elsewhere;  // its only name is ours
    if (pids.empty()) return Match::unclear;        // this kernel does not tell
    const bool has_number =
        std::ranges::find(pids.begin() + 1, pids.end(), named.pid) != pids.end();
    const auto link = fmt::format("{}/{}/ns/pid", proc_, candidate);
    const auto inode = inode_of(link);
    if (inode == named.pid_namespace) {
        if (pids.back() == named.pid) return Match::same;
        if (has_thread(candidate, named.pid)) return Match::same;
        // Who has ended and was not waited for yet lives nowhere.
        return has_living_thread(candidate, proc_) ? Match::other : Match::elsewhere;
    }
    if (!has_number) return Match::elsewhere;
    if (inode == 0) return Match::unclear;
    const auto [is_clear, steps] = steps_out(link, named.pid_namespace);
    if (!is_clear) return Match::unclear;
    const bool is_same =
        steps && *steps < pids.size() && pids[pids.size() - 1 - *steps] == named.pid;
    return is_same ? Match::same : Match::elsewhere;
}

/// In the process's own namespace.
bool PidNamespaces::has_thread(pid_t candidate, pid_t named) const {
    const auto tasks = fmt::format("{}/{}/task", proc_, candidate);
    return std::ranges::any_of(threads_of(candidate, proc_), [&](pid_t thread) {
        const auto status = read_proc_status(thread, tasks);
        return status && !status->pids.empty() && status->pids.back() == named;
    });
}

std::vector<pid_t> PidNamespaces::children_of(pid_t pid) const {
    std::vector<pid_t> children;
    for (const auto thread : threads_of(pid, proc_)) {
        const auto text =
            read_small_file(fmt::format("{}/{}/task/{}/children", proc_, pid, thread)).value_or("");
        const auto* place = text.data();
        const auto* end = text.data() + text.size();
        while (place != end) {
            pid_t child = 0;
            const auto [stop, error] = std::from_chars(place, end, child);
            if (error != std::errc{}) break;
            children.push_back(child);
            place = stop;
            while (place != end && *place == ' ') ++place;
        }
    }
    return children;
}

/// The pid here, or 0.
pid_t PidNamespaces::find_near(const NamedPid& named, pid_t near) const {
    std::vector<pid_t> family{near};
    for (std::size_t i = 0; i < family.size(); ++i) {
        if (match(family[i], named) == Match::same) return family[i];
        if (family.size() >= descendants_max) continue;
        std::ranges::copy(children_of(family[i]), std::back_inserter(family));
    }
    auto ancestor = near;
    for (int i = 0; i < ancestors_max; ++i) {
        const auto text = read_small_file(fmt::format("{}/{}/stat", proc_, ancestor));
        const auto stat = text ? parse_proc_stat(*text) : std::nullopt;
        if (!stat || stat->parent <= 0) break;
        ancestor = stat->parent;
        if (match(ancestor, named) == Match::same) return ancestor;
    }
    return 0;
}

bool PidNamespaces::sees_all() const {
    if (own_ != initial_) return false;
    // Where /proc hides the processes of others (hidepid), the first one is hidden too.
    return read_proc_status(1, proc_).has_value();
}

/// A process that lives all the while is met, whatever else comes and goes: /proc is listed in the
/// order of pids, and its pid does not change.
Located PidNamespaces::find_anywhere(const NamedPid& named, bool is_seen) const {
    auto cannot_see = Located{.kind = Located::Kind::cannot_see,
                              .pid = 0,
                              .why = fmt::format("process {} of pid namespace {} cannot be "
                                                 "seen from here (pid namespace {})",
                                                 named.pid, named.pid_namespace, own_)};
    const auto began_at = ticks_since_boot();
    bool is_clear = true;
    std::size_t looked_at = 0;
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(proc_.c_str()), closedir);
    if (directory == nullptr) return cannot_see;
    while (const auto* entry = readdir(directory.get())) {
        const std::string_view name = entry->d_name;
        pid_t pid = 0;
        const auto* end = name.data() + name.size();
        const auto [stop, error] = std::from_chars(name.data(), end, pid);
        if (error != std::errc{} || stop != end) continue;
        if (++looked_at > processes_max) return cannot_see;
        const auto found = match(pid, named);
        if (found == Match::same) return {.kind = Located::Kind::here, .pid = pid, .why = {}};
        if (found == Match::unclear) is_clear = false;
        if (found == Match::other) is_seen = true;
    }
    if (!is_clear || (!is_seen && !sees_all())) return cannot_see;
    if (is_seen) {
        return {.kind = Located::Kind::nobody,
                .pid = 0,
                .why = fmt::format("no process {} runs in pid namespace {}", named.pid,
                                   named.pid_namespace)};
    }
    auto why = fmt::format("no process lives in pid namespace {} any more", named.pid_namespace);
    const Lock lock(mutex_);
    if (ended_.size() >= remembered_max) ended_.clear();
    ended_[named.pid_namespace] = {began_at, why};
    return {.kind = Located::Kind::nobody, .pid = 0, .why = std::move(why)};
}

void PidNamespaces::add_ended(std::uint64_t inode, std::string why) {
    const Lock lock(mutex_);
    ended_[inode] = {ticks_since_boot(), std::move(why)};
}

/// Only of a process that had started by then.
std::optional<Located> PidNamespaces::find_ended(const NamedPid& named) const {
    if (named.start_ticks == 0) return std::nullopt;
    const Lock lock(mutex_);
    const auto found = ended_.find(named.pid_namespace);
    if (found == ended_.end() || named.start_ticks >= found->second.at) return std::nullopt;
    return Located{.kind = Located::Kind::nobody, .pid = 0, .why = found->second.why};
}

Located PidNamespaces::find(const NamedPid& named, pid_t near) const {
    if (own_ != 0 && named.pid_namespace == own_) {
        return {.kind = Located::Kind::here, .pid = named.pid, .why = {}};
    }
    if (own_ == 0 || named.pid_namespace == 0) {
        return {.kind = Located::Kind::cannot_see,
                .pid = 0,
                .why = fmt::format("nothing tells in which pid namespace process {} is to be "
                                   "looked for",
                                   named.pid)};
    }
    bool is_seen = false;
    if (near > 0) {
        if (const auto pid = find_near(named, near); pid != 0) {
            return {.kind = Located::Kind::here, .pid = pid, .why = {}};
        }
        // Whoever we see in a namespace shows that we see all of it.
        is_seen = of(near) == named.pid_namespace;
    }
    if (auto ended = find_ended(named)) return std::move(*ended);
    return find_anywhere(named, is_seen);
}

}  // namespace knell
