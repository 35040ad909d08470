#include "activity/proc_source.hpp"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/pidfd.hpp"
#include "platform/proc_status.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

/// Descriptors are listed anew this long after the last time when the tree has done something
/// since, and `member_share` longer for each process in it;
constexpr auto list_busy_every = 4s;
constexpr auto member_share = 50ms;
/// and in any case after this: a socket can be opened within a tick of the processor's clock.  Who
/// is to listen does so soon.
constexpr auto list_young_every = 20s;
constexpr auto list_every = 5min;
constexpr auto young_for = 2min;

std::uint64_t inode_of(const std::string& path) {
    struct stat found{};
    return ::stat(path.c_str(), &found) == 0 ? found.st_ino : 0;
}

std::string text_of(int error) {
    return std::generic_category().message(error);
}

std::chrono::milliseconds to_millis(std::uint64_t ticks) {
    static const auto a_second = static_cast<std::uint64_t>(std::max(sysconf(_SC_CLK_TCK), 1L));
    return std::chrono::milliseconds{ticks * 1000 / a_second};
}

TreeSample hidden(std::string why) {
    TreeSample sample;
    sample.sight = TreeSample::Sight::hidden;
    sample.unseen.push_back(std::move(why));
    return sample;
}

void add_once(std::vector<std::string>& texts, std::string text) {
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
}

}  // namespace

ProcSource::ProcSource(const ProcessTable& table, std::string proc)
    : proc_(std::move(proc)),
      boot_id_(table.boot_id()),
      pid_namespace_(table.own_pid_namespace()),
      tables_(proc_, inode_of("/proc/self/ns/net")) {}

void ProcSource::begin_round(SteadyTime now) {
    tables_.begin_round(now);
}

void ProcSource::forget(const ProcessIdentity& process) {
    trees_.erase({process.pid, process.start_ticks});
}

std::optional<TreeSample> ProcSource::why_not_here(const ProcessIdentity& process) const {
    if (process.boot_id != boot_id_) return TreeSample{};  // gone with its boot
    if (pid_namespace_ == 0) return hidden("/proc counts for another pid namespace");
    if (process.pid_namespace != pid_namespace_) return hidden("it is in another pid namespace");
    return std::nullopt;
}

/// Its folder cannot be opened, or its stat not be read.
TreeSample ProcSource::cannot_open(const ProcessIdentity& process, int error) {
    if (error == ENOENT || error == ESRCH) {
        // To those who may not see it, hidepid shows a process as if there were none.
        const Fd pidfd(::pidfd_open(process.pid, 0));
        if (!pidfd && errno == ESRCH) return {};
        return hidden("/proc does not show it (hidepid)");
    }
    return hidden(fmt::format("/proc/{}/stat cannot be read: {}", process.pid, text_of(error)));
}

TreeSample ProcSource::look(const ProcessIdentity& process, SteadyTime now) {
    if (auto answer = why_not_here(process)) return *answer;
    const auto first = MemberLook::open(proc_, process.pid);
    if (!first) return cannot_open(process, errno);
    if (first->stat().start_ticks != process.start_ticks) return {};
    // One whose first thread has ended is a zombie while others of it run.
    if (first->stat().is_dead() && !has_living_thread(process.pid, proc_)) return {};

    auto& tree = trees_[{process.pid, process.start_ticks}];
    auto sample = walk(*first, tree, now);
    if (sample.sight == TreeSample::Sight::seen) add_sockets(tree, sample, now);
    return sample;
}

/// From parents to children.
TreeSample ProcSource::walk(const MemberLook& first, Tree& tree, SteadyTime now) const {
    TreeSample sample;
    sample.sight = TreeSample::Sight::seen;
    sample.is_stopped = true;
    std::map<TreeMember, KnownChildren> children;
    struct Next {
        pid_t pid;
        pid_t parent;
    };
    std::deque<Next> queue;
    const auto take = [&](const MemberLook& look) {
        add(look, sample);
        const auto member = look.member();
        auto& known = children[member];
        if (const auto before = tree.children.find(member); before != tree.children.end()) {
            known = std::move(before->second);
        }
        const bool told = look.read_children(known, now);
        for (const auto pid : known.pids) queue.push_back({.pid = pid, .parent = member.pid});
        return told;
    };
    if (!take(first)) {
        // Without its children nothing is known of what is done on its behalf.
        if (!first.is_there()) return {};
        return hidden("the kernel does not tell the children of a process");
    }
    for (; !queue.empty(); queue.pop_front()) {
        if (sample.members.size() >= members_max) {
            sample.has_more_members = true;
            break;
        }
        const auto look = MemberLook::open(proc_, queue.front().pid);
        // Gone meanwhile, or its pid has gone to somebody else.
        if (!look || look->stat().parent != queue.front().parent) continue;
        static_cast<void>(take(*look));  // a child that just ended tells nothing any more
    }
    std::ranges::sort(sample.members);
    sample.escaped = find_escaped(tree, sample);
    tree.escaped = sample.escaped;
    tree.children = std::move(children);
    return sample;
}

/// Who was in the tree at the last look, or had left it before, and runs outside of it.
std::vector<TreeMember> ProcSource::find_escaped(const Tree& before, const TreeSample& now) const {
    auto missing = before.escaped;
    for (const auto& [member, _] : before.children) missing.push_back(member);
    std::ranges::sort(missing);
    std::vector<TreeMember> escaped;
    for (const auto& member : missing) {
        if (escaped.size() == escaped_max) break;
        if (std::ranges::binary_search(now.members, member)) continue;
        const auto look = MemberLook::open(proc_, member.pid);
        if (!look || look->member() != member || look->stat().is_dead()) continue;
        escaped.push_back(member);
    }
    return escaped;
}

void ProcSource::add(const MemberLook& look, TreeSample& sample) {
    const auto& stat = look.stat();
    sample.members.push_back(look.member());
    sample.cpu += to_millis(stat.cpu_ticks + stat.waited_cpu_ticks);
    if (stat.is_dead()) return;
    sample.is_runnable = sample.is_runnable || stat.state == 'R';
    sample.is_blocked = sample.is_blocked || stat.state == 'D';
    sample.is_stopped = sample.is_stopped && stat.is_stopped();
    if (sample.terminal.empty()) sample.terminal = look.waits_at();
    if (const auto bytes = look.io_bytes()) {
        sample.io_bytes += *bytes;
    } else if (errno == EACCES || errno == EPERM) {
        add_once(sample.unseen, fmt::format("I/O cannot be read: {}", text_of(errno)));
    }
}

bool ProcSource::is_due(const Tree& tree, const TreeSample& sample, SteadyTime now) {
    if (!tree.listed_at) return true;
    const auto age = now - *tree.listed_at;
    const bool is_young = now - tree.first_listed < young_for;
    if (age >= (is_young ? list_young_every : list_every)) return true;
    const bool has_changed = tree.cpu != sample.cpu || tree.io_bytes != sample.io_bytes ||
                             tree.members != sample.members;
    return has_changed && age >= list_busy_every + member_share * sample.members.size();
}

void ProcSource::list_descriptors(Tree& tree, const TreeSample& sample, SteadyTime now) const {
    if (!tree.listed_at) tree.first_listed = now;
    tree.listed_at = now;
    tree.members = sample.members;
    tree.cpu = sample.cpu;
    tree.io_bytes = sample.io_bytes;
    tree.sockets.clear();
    tree.unseen.clear();
    for (const auto& member : sample.members) {
        const auto look = MemberLook::open(proc_, member.pid);
        if (!look || look->member() != member || look->stat().is_dead()) continue;
        if (!look->list_sockets(tree.sockets) && (errno == EACCES || errno == EPERM)) {
            tree.unseen = fmt::format("sockets cannot be read: {}", text_of(errno));
        }
        if (const auto network = look->network(); network != 0) {
            tree.network = network;
            tree.in_network = member.pid;
        }
    }
    std::ranges::sort(tree.sockets);
    const auto twice = std::ranges::unique(tree.sockets);  // inherited by children
    tree.sockets.erase(twice.begin(), twice.end());
}

void ProcSource::add_sockets(Tree& tree, TreeSample& sample, SteadyTime now) {
    if (is_due(tree, sample, now)) list_descriptors(tree, sample, now);
    if (!tree.unseen.empty()) {
        add_once(sample.unseen, tree.unseen);
        if (tree.sockets.empty()) return;
    }
    if (tree.sockets.empty()) {
        sample.sockets.emplace();
        return;
    }
    if (const auto* table = tables_.find(tree.network, tree.in_network, now)) {
        sample.sockets = table->of(tree.sockets);
    } else {
        add_once(sample.unseen, "the sockets of its network namespace cannot be read");
    }
}

}  // namespace knell
