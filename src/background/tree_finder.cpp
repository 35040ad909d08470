#include "background/tree_finder.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "watch/cookie.hpp"

namespace knell {

namespace {

class Search {
  public:
    Search(const TreeRoot& root, const ProcessTree& tree, const TreeBounds& bounds)
        : root_(root), tree_(tree), bounds_(bounds) {}

    std::vector<ProcessIdentity> run() {
        if (!look()) return {};
        drop_others();
        std::vector<ProcessIdentity> found;
        // Itself first: what it would start next is not started.
        if (stat_ && members_.erase(root_pid()) > 0) found.push_back(root_.process);
        for (const auto pid : members_) found.push_back(tree_.identity(pid, all_.at(pid)));
        return found;
    }

    std::vector<SparedProcess> spared() {
        if (!look()) return {};
        std::vector<SparedProcess> found;
        for (const auto pid : members_) {
            if (all_.at(pid).is_dead()) continue;
            auto process = tree_.identity(pid, all_.at(pid));
            auto why = why_spared(process);
            if (!why.empty()) found.push_back({std::move(process), std::move(why)});
        }
        return found;
    }

  private:
    bool look() {
        // Numbers of another boot or namespace mean other processes.
        if (root_.process.boot_id != tree_.boot_id()) return false;
        if (root_.process.pid_namespace != tree_.pid_namespace()) return false;
        look_at_root();
        look_at_all();
        find_members();
        return true;
    }

    /// "" when neither an owner nor another session's.
    std::string why_spared(const ProcessIdentity& process) const {
        if (bounds_.owners.contains(process)) return "it owns an open session";
        const auto record = bounds_.as_others(process, root_.session_id);
        if (!record) return {};
        return fmt::format("it is background process {} of session {}", record->id.text(),
                           record->session_id.text());
    }

    pid_t root_pid() const { return root_.process.pid; }

    void look_at_root() {
        const auto holder = tree_.stat(root_pid());
        if (!holder || holder->start_ticks != root_.process.start_ticks) return;
        stat_ = holder;
        if (const auto environment = tree_.environment(root_pid())) {
            own_cookie_ = cookie_in(*environment);
        }
    }

    void look_at_all() {
        for (const auto pid : tree_.pids()) {
            const auto stat = tree_.stat(pid);
            if (stat && stat->start_ticks >= root_.process.start_ticks) all_.emplace(pid, *stat);
        }
    }

    bool is_root(pid_t pid) const { return stat_ && pid == root_pid(); }

    /// While its number is its own, be it as a zombie, so is that of its session.
    bool is_in_session(const ProcStat& stat) const {
        return stat_ && stat_->session == root_pid() && stat.session == root_pid();
    }

    bool was_seen(pid_t pid, const ProcStat& stat) const {
        const auto is_pid = [pid](const ProcessIdentity& seen) { return seen.pid == pid; };
        const auto seen = std::ranges::find_if(root_.seen, is_pid);
        return seen != root_.seen.end() && *seen == tree_.identity(pid, stat);
    }

    bool is_others(pid_t pid, const ProcStat& stat, const Cookie& cookie) const {
        const auto identity = tree_.identity(pid, stat);
        if (bounds_.owners.contains(identity)) return true;
        if (bounds_.as_others(identity, root_.session_id)) return true;
        if (is_root(pid)) return false;
        if (tree_.is_knell(pid)) return true;
        if (cookie == own_cookie_) return false;
        if (!cookie.is_of_session()) return false;
        if (!is_same_socket(pid, cookie.socket, bounds_.socket, tree_)) return true;
        if (cookie.session_id != root_.session_id.text()) return true;
        return !cookie.process_id.empty() && cookie.process_id != root_.id.text();
    }

    /// By themselves, then those below them.
    void find_members() {
        for (const auto& [pid, stat] : all_) {
            const auto environment = tree_.environment(pid);
            const auto cookie = environment ? cookie_in(*environment) : Cookie{};
            const bool is_marked = cookie.process_id == root_.id.text() &&
                                   is_same_socket(pid, cookie.socket, bounds_.socket, tree_);
            if (is_root(pid) || is_marked || is_in_session(stat) || was_seen(pid, stat)) {
                members_.insert(pid);
            }
            cookies_.emplace(pid, cookie);
        }
        for (bool grew = true; grew;) {
            grew = false;
            for (const auto& [pid, stat] : all_) {
                if (!members_.contains(stat.parent)) continue;
                if (stat.start_ticks < all_.at(stat.parent).start_ticks) continue;
                grew = members_.insert(pid).second || grew;
            }
        }
    }

    void drop_others() {
        std::set<pid_t> others;
        for (const auto pid : members_) {
            if (is_others(pid, all_.at(pid), cookies_.at(pid))) others.insert(pid);
        }
        for (bool grew = !others.empty(); grew;) {
            grew = false;
            for (const auto pid : members_) {
                if (others.contains(all_.at(pid).parent)) grew = others.insert(pid).second || grew;
            }
        }
        std::erase_if(members_,
                      [&](pid_t pid) { return others.contains(pid) || all_.at(pid).is_dead(); });
    }

    const TreeRoot& root_;
    const ProcessTree& tree_;
    const TreeBounds& bounds_;
    std::optional<ProcStat> stat_;  // of the root, when it is still there
    Cookie own_cookie_;             // that it was itself started with
    std::map<pid_t, ProcStat> all_;
    std::map<pid_t, Cookie> cookies_;
    std::set<pid_t> members_;
};

}  // namespace

std::vector<ProcessIdentity> find_tree(const TreeRoot& root, const ProcessTree& tree,
                                       const TreeBounds& bounds) {
    return Search(root, tree, bounds).run();
}

std::vector<SparedProcess> find_spared(const TreeRoot& root, const ProcessTree& tree,
                                       const TreeBounds& bounds) {
    return Search(root, tree, bounds).spared();
}

std::vector<ProcessId> find_marks(const ProcessTree& tree, const std::string& socket) {
    std::set<ProcessId> marks;
    for (const auto pid : tree.pids()) {
        const auto environment = tree.environment(pid);
        if (!environment) continue;
        const auto cookie = cookie_in(*environment);
        if (why_not_a_process_id(cookie.process_id)) continue;
        if (is_same_socket(pid, cookie.socket, socket, tree)) {
            marks.emplace(cookie.process_id);
        }
    }
    return {marks.begin(), marks.end()};
}

}  // namespace knell
