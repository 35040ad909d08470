#pragma once

#include <map>
#include <string>

#include "watch/process_table.hpp"

namespace knell::testing {

/// Processes that exist because a test says so.
class FakeProcesses final : public ProcessTable {
  public:
    void start(pid_t pid, std::uint64_t start_ticks) { running_[pid] = start_ticks; }
    void end(pid_t pid) { running_.erase(pid); }
    void set_boot_id(std::string boot_id) { boot_id_ = std::move(boot_id); }
    void set_knell(pid_t pid, bool is_knell) { knell_[pid] = is_knell; }
    /// Process `inside` of another pid namespace is seen here as `pid`.
    void show(std::uint64_t pid_namespace, pid_t inside, pid_t pid) {
        shown_[{pid_namespace, inside}] = pid;
    }
    void set_look(pid_t pid, ProcessLook look) { looks_[pid] = std::move(look); }
    void set_parent(pid_t pid, pid_t parent) { parents_[pid] = parent; }

    std::optional<ProcessIdentity> identify(pid_t pid) const override {
        const auto found = running_.find(pid);
        if (found == running_.end()) return std::nullopt;
        return ProcessIdentity{pid, found->second, 1, boot_id_};
    }
    ProcessSnapshot look_at(pid_t pid) const override {
        const auto found = running_.find(pid);
        if (found == running_.end()) return {.nobody = true};
        return {.start_ticks = found->second};
    }
    Departure exit_of(const ProcessSnapshot&, const ProcessIdentity&) const override { return {}; }
    std::optional<pid_t> parent_of(pid_t pid) const override {
        const auto found = parents_.find(pid);
        return found == parents_.end() ? std::nullopt : std::optional(found->second);
    }
    std::optional<ProcessLook> look_of(const ProcessIdentity& process) const override {
        const auto found = looks_.find(process.pid);
        if (found == looks_.end() || identify(process.pid) != process) return std::nullopt;
        return found->second;
    }
    bool is_knell(pid_t pid) const override {
        const auto found = knell_.find(pid);
        return found == knell_.end() || found->second;
    }
    uid_t own_uid() const override { return 1000; }
    const std::string& boot_id() const override { return boot_id_; }
    std::uint64_t own_pid_namespace() const override { return 1; }
    std::uint64_t pid_namespace_of(pid_t) const override { return 1; }
    Located locate(const NamedPid& named, pid_t) const override {
        if (named.pid_namespace == 1)
            return {.kind = Located::Kind::here, .pid = named.pid, .why = {}};
        const auto shown = shown_.find({named.pid_namespace, named.pid});
        if (shown != shown_.end())
            return {.kind = Located::Kind::here, .pid = shown->second, .why = {}};
        return {.kind = Located::Kind::cannot_see, .pid = 0, .why = "another pid namespace"};
    }

  private:
    std::map<pid_t, std::uint64_t> running_;
    std::map<std::pair<std::uint64_t, pid_t>, pid_t> shown_;
    std::map<pid_t, pid_t> parents_;
    std::map<pid_t, ProcessLook> looks_;
    std::map<pid_t, bool> knell_;  // all, unless said otherwise
    std::string boot_id_ = "boot-1";
};

}  // namespace knell::testing
