#include "watch/leftovers.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/limits.hpp"
#include "watch/cookie.hpp"
#include "watch/leftovers_shared.hpp"

namespace knell {

namespace {

enum class Whose : std::uint8_t { nobodys, ours, others };

/// Another daemon may have a session of the same name, and an earlier or later generation the same
/// daemon: all three must be ours.  What belongs to a background process is on record by itself.
Whose whose_cookie(pid_t pid, const LeftoverSearch& search, const ProcessTree& tree) {
    const auto environment = tree.environment(pid);
    if (!environment) return Whose::nobodys;
    const auto cookie = cookie_in(*environment);
    if (!cookie.is_of_session()) return Whose::nobodys;
    const bool is_ours = cookie.session_id == search.session_id.text() &&
                         cookie.generation == fmt::format("{}", search.generation) &&
                         cookie.process_id.empty() &&
                         is_same_socket(pid, cookie.socket, search.socket, tree);
    return is_ours ? Whose::ours : Whose::others;
}

class Search {
  public:
    Search(const LeftoverSearch& search, const ProcessTree& tree, const LiveOwners& owners)
        : search_(search), tree_(tree), owners_(owners) {}

    std::vector<Leftover> run() {
        const auto& command = search_.command;
        // Numbers of another boot or namespace mean other processes.
        if (command.boot_id != tree_.boot_id()) return {};
        if (command.pid_namespace != tree_.pid_namespace()) return {};
        look_at_command();
        if (command_ && !command_->is_dead()) return {};  // nothing is left behind yet
        if (!walk_reaper()) look_at_all();
        candidates_.erase(command.pid);
        find_evidence();
        drop_others();
        std::map<pid_t, ProcStat> found;
        for (const auto& [pid, candidate] : candidates_) {
            if (!candidate.found_by.empty()) found.emplace(pid, candidate.stat);
        }
        auto shared = find_shared(found, command_session_, tree_);
        share_what_came_after(shared, found);
        std::vector<Leftover> leftovers;
        for (const auto& [pid, stat] : found) {
            if (leftovers.size() == limits::leftovers_max) break;
            const auto& candidate = candidates_.at(pid);
            const bool is_shared = shared.contains(pid) || candidate.is_ancestor_of_others;
            leftovers.push_back({tree_.identity(pid, stat), candidate.found_by,
                                 readable_command(tree_.command_line(pid)),
                                 is_shared ? Fate::shared : Fate::left});
        }
        return leftovers;
    }

  private:
    struct Candidate {
        ProcStat stat;
        std::string found_by;
        bool is_ancestor_of_others = false;
    };

    /// A server hands its environment, cookie and all, to whatever it is asked to start, and what
    /// that leaves behind shows no trace of it: of what daemonised after the server nobody can say
    /// who asked for it.
    void share_what_came_after(std::set<pid_t>& shared,
                               const std::map<pid_t, ProcStat>& found) const {
        auto first = UINT64_MAX;
        for (const auto pid : shared) first = std::min(first, found.at(pid).start_ticks);
        for (const auto& [pid, stat] : found) {
            const bool is_daemonised = command_session_ == 0 || stat.session != command_session_;
            if (is_daemonised && stat.start_ticks >= first) shared.insert(pid);
        }
    }

    void look_at_command() {
        const auto holder = tree_.stat(search_.command.pid);
        if (!holder || holder->start_ticks != search_.command.start_ticks) return;
        command_ = holder;
        command_session_ = holder->session;
    }

    /// False when there is no tree to walk, or the kernel does not show it.
    bool walk_reaper() {
        if (!search_.reaper || search_.by_cookie_only) return false;
        const auto reaper = search_.reaper->pid;
        const auto stat = tree_.stat(reaper);
        if (!stat || stat->is_dead() || stat->start_ticks != search_.reaper->start_ticks) {
            return false;
        }
        if (command_ && command_->parent != reaper) return false;
        if (command_session_ == 0) command_session_ = stat->session;
        std::vector<pid_t> parents{reaper};
        while (!parents.empty()) {
            const auto parent = parents.back();
            parents.pop_back();
            const auto children = tree_.children(parent);
            if (!children && parent == reaper) return false;
            for (const auto child : children.value_or(std::vector<pid_t>{})) {
                if (!add(child)) continue;
                if (parent == reaper) candidates_.at(child).found_by = by_reaper;
                parents.push_back(child);
            }
        }
        return true;
    }

    void look_at_all() {
        candidates_.clear();
        for (const auto pid : tree_.pids()) add(pid);
    }

    /// What started before the command, and all of its children, is none of the session's.
    bool add(pid_t pid) {
        if (candidates_.contains(pid)) return false;
        const auto stat = tree_.stat(pid);
        if (!stat || stat->start_ticks < search_.command.start_ticks) return false;
        // Only a living one is a leftover, but the dead command leads to its children.
        if (stat->is_dead() && pid != search_.command.pid) return false;
        candidates_[pid] = {.stat = *stat, .found_by = {}};
        return true;
    }

    void find_evidence() {
        for (auto& [pid, candidate] : candidates_) {
            switch (whose_cookie(pid, search_, tree_)) {
                case Whose::ours:
                    candidate.found_by = "KNELL_SESSION_ID in its environment";
                    break;
                case Whose::others:
                    candidate.found_by.clear();
                    others_.insert(pid);
                    break;
                case Whose::nobodys:
                    if (candidate.found_by.empty() && is_in_group(candidate.stat)) {
                        candidate.found_by = "in the process group of the command";
                    }
            }
            if (owners_.contains(tree_.identity(pid, candidate.stat))) others_.insert(pid);
        }
        add_descendants();
        for (const auto& [pid, candidate] : candidates_) {
            if (!candidate.found_by.empty() && tree_.is_knell(pid)) others_.insert(pid);
        }
    }

    /// While the command is there, be it as a zombie, its pid and so its group are its own.
    bool is_in_group(const ProcStat& stat) const {
        if (!command_ || search_.by_cookie_only) return false;
        const auto command = search_.command.pid;
        return stat.group == command || stat.session == command;
    }

    /// Children of leftovers are leftovers, however deep.
    void add_descendants() {
        for (bool grew = true; grew;) {
            grew = false;
            for (auto& [pid, candidate] : candidates_) {
                if (!candidate.found_by.empty() || others_.contains(pid)) continue;
                const auto parent = candidates_.find(candidate.stat.parent);
                if (parent == candidates_.end() || parent->second.found_by.empty()) continue;
                if (candidate.stat.start_ticks < parent->second.stat.start_ticks) continue;
                candidate.found_by = fmt::format("child of leftover {}", parent->first);
                grew = true;
            }
        }
    }

    /// Owners of open sessions, bearers of other cookies and what descends from them are not ours;
    /// what they descend from is not ours alone.
    void drop_others() {
        for (auto& [pid, candidate] : candidates_) {
            auto ancestor = pid;
            for (std::size_t steps = 0; steps <= candidates_.size(); ++steps) {
                const auto found = candidates_.find(ancestor);
                if (found == candidates_.end()) break;
                if (others_.contains(ancestor)) {
                    candidate.found_by.clear();
                    break;
                }
                ancestor = found->second.stat.parent;
            }
        }
        for (const auto other : others_) {
            auto ancestor = candidates_.at(other).stat.parent;
            for (std::size_t steps = 0; steps <= candidates_.size(); ++steps) {
                const auto found = candidates_.find(ancestor);
                if (found == candidates_.end()) break;
                found->second.is_ancestor_of_others = true;
                ancestor = found->second.stat.parent;
            }
        }
    }

    static constexpr auto by_reaper = "left to the session's knell run";

    const LeftoverSearch& search_;
    const ProcessTree& tree_;
    const LiveOwners& owners_;
    std::optional<ProcStat> command_;  // when it is still there
    pid_t command_session_ = 0;        // 0: not known any more
    std::map<pid_t, Candidate> candidates_;
    std::set<pid_t> others_;
};

}  // namespace

std::string readable_command(std::string text) {
    while (!text.empty() && text.back() == '\0') text.pop_back();
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    if (text.size() > limits::leftover_command_bytes_max) {
        text.resize(limits::leftover_command_bytes_max);
    }
    while (!is_utf8(text)) text.pop_back();  // a cut letter, or not text at all
    return text;
}

std::vector<Leftover> find_leftovers(const LeftoverSearch& search, const ProcessTree& tree,
                                     const LiveOwners& owners) {
    return Search(search, tree, owners).run();
}

bool is_running(const ProcessIdentity& process, const ProcessTree& tree) {
    if (process.boot_id != tree.boot_id()) return false;
    const auto stat = tree.stat(process.pid);
    return stat && !stat->is_dead() && stat->start_ticks == process.start_ticks;
}

}  // namespace knell
