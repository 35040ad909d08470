#pragma once

#include <map>
#include <string>

#include "watch/process_tree.hpp"

namespace knell::testing {

/// A process as a test invents it.
struct FakeProcess {
    ProcStat stat;
    std::string environment;
    std::string command_line = "sleep 9";
    Sockets sockets;
    bool hides_environment = false;
    bool hides_sockets = false;
    bool is_daemon = false;
};

/// Processes and how they belong together, because a test says so.
class FakeTree : public ProcessTree {
  public:
    std::map<pid_t, FakeProcess> processes;
    bool tells_children = true;
    std::string boot = "boot-1";
    mutable int passes = 0;  // over all processes

    const std::string& boot_id() const override { return boot; }
    std::uint64_t pid_namespace() const override { return 1; }
    std::vector<pid_t> pids() const override {
        ++passes;
        std::vector<pid_t> pids;
        for (const auto& [pid, process] : processes) pids.push_back(pid);
        return pids;
    }
    std::optional<ProcStat> stat(pid_t pid) const override {
        const auto found = processes.find(pid);
        if (found == processes.end()) return std::nullopt;
        return found->second.stat;
    }
    std::optional<std::vector<pid_t>> children(pid_t parent) const override {
        if (!tells_children || !processes.contains(parent)) return std::nullopt;
        std::vector<pid_t> pids;
        for (const auto& [pid, process] : processes) {
            if (process.stat.parent == parent) pids.push_back(pid);
        }
        return pids;
    }
    std::optional<std::string> environment(pid_t pid) const override {
        const auto& process = processes.at(pid);
        if (process.hides_environment) return std::nullopt;
        return process.environment;
    }
    std::string command_line(pid_t pid) const override { return processes.at(pid).command_line; }
    std::optional<Sockets> sockets(pid_t pid) const override {
        const auto& process = processes.at(pid);
        if (process.hides_sockets) return std::nullopt;
        return process.sockets;
    }
    bool is_knell_daemon(pid_t pid) const override { return processes.at(pid).is_daemon; }
    bool is_same_file(const std::string& one, const std::string& other) const override {
        return one == other;
    }
};

}  // namespace knell::testing
