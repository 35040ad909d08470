#pragma once

#include <map>

#include "watch/process_tree.hpp"

namespace knell {

/// One look at all processes for many searches: nothing is read twice.  For a moment's use, one
/// thread.
class CachedTree final : public ProcessTree {
  public:
    explicit CachedTree(const ProcessTree& tree) : tree_(tree) {}

    const std::string& boot_id() const override { return tree_.boot_id(); }
    std::uint64_t pid_namespace() const override { return tree_.pid_namespace(); }
    std::vector<pid_t> pids() const override {
        if (!pids_) pids_ = tree_.pids();
        return *pids_;
    }
    std::optional<ProcStat> stat(pid_t pid) const override {
        return once(stats_, pid, [&] { return tree_.stat(pid); });
    }
    std::optional<std::vector<pid_t>> children(pid_t pid) const override {
        return once(children_, pid, [&] { return tree_.children(pid); });
    }
    std::optional<std::string> environment(pid_t pid) const override {
        return once(environments_, pid, [&] { return tree_.environment(pid); });
    }
    std::string command_line(pid_t pid) const override { return tree_.command_line(pid); }
    std::optional<Sockets> sockets(pid_t pid) const override { return tree_.sockets(pid); }
    bool is_knell_daemon(pid_t pid) const override { return tree_.is_knell_daemon(pid); }
    bool is_same_file(const std::string& one, const std::string& other) const override {
        return tree_.is_same_file(one, other);
    }

  private:
    template <typename Value, typename Read>
    static Value once(std::map<pid_t, Value>& kept, pid_t pid, Read&& read) {
        const auto [place, is_new] = kept.try_emplace(pid);
        if (is_new) place->second = read();
        return place->second;
    }

    const ProcessTree& tree_;
    mutable std::optional<std::vector<pid_t>> pids_;
    mutable std::map<pid_t, std::optional<ProcStat>> stats_;
    mutable std::map<pid_t, std::optional<std::vector<pid_t>>> children_;
    mutable std::map<pid_t, std::optional<std::string>> environments_;
};

}  // namespace knell
