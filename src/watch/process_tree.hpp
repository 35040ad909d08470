#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "platform/proc_stat.hpp"
#include "watch/process_table.hpp"

namespace knell {

/// What a process is connected to, as far as it shows whom it serves.
struct Sockets {
    bool listens_on_unix = false;
    std::vector<std::uint64_t> own;    // inodes of all its sockets
    std::vector<std::uint64_t> peers;  // of the TCP clients it accepted; 0: not on this host
};

/// All processes and how they belong together, as /proc shows them.  What the search for leftovers
/// needs to know; a test may invent it.
///
/// Everything here is a look at something that may change or vanish meanwhile.
class ProcessTree {
  public:
    virtual ~ProcessTree() = default;
    virtual const std::string& boot_id() const = 0;
    virtual std::uint64_t pid_namespace() const = 0;

    virtual std::vector<pid_t> pids() const = 0;
    virtual std::optional<ProcStat> stat(pid_t pid) const = 0;
    /// Nothing when the kernel does not tell (it was built without), or there is no such process.
    virtual std::optional<std::vector<pid_t>> children(pid_t pid) const = 0;
    /// As it was started.  Nothing when it may not or cannot be read.
    virtual std::optional<std::string> environment(pid_t pid) const = 0;
    virtual std::string command_line(pid_t pid) const = 0;
    virtual std::optional<Sockets> sockets(pid_t pid) const = 0;
    /// A daemon is meant to outlive whoever started it.
    virtual bool is_knell_daemon(pid_t pid) const = 0;
    virtual bool is_same_file(const std::string& one, const std::string& other) const = 0;

    ProcessIdentity identity(pid_t pid, const ProcStat& stat) const {
        ProcessIdentity found;
        found.pid = pid;
        found.start_ticks = stat.start_ticks;
        found.pid_namespace = pid_namespace();
        found.boot_id = boot_id();
        return found;
    }
};

/// The real one.  Any thread.
class ProcTree final : public ProcessTree {
  public:
    explicit ProcTree(const ProcessTable& table)
        : boot_id_(table.boot_id()), pid_namespace_(table.own_pid_namespace()) {}
    const std::string& boot_id() const override { return boot_id_; }
    std::uint64_t pid_namespace() const override { return pid_namespace_; }
    std::vector<pid_t> pids() const override;
    std::optional<ProcStat> stat(pid_t pid) const override { return read_proc_stat(pid); }
    std::optional<std::vector<pid_t>> children(pid_t pid) const override;
    std::optional<std::string> environment(pid_t pid) const override;
    std::string command_line(pid_t pid) const override;
    std::optional<Sockets> sockets(pid_t pid) const override;
    bool is_knell_daemon(pid_t pid) const override;
    bool is_same_file(const std::string& one, const std::string& other) const override;

  private:
    const std::string boot_id_;
    const std::uint64_t pid_namespace_;
};

}  // namespace knell
