#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>
#include <unistd.h>

#include "core/departure.hpp"
#include "core/owner.hpp"
#include "platform/fd.hpp"
#include "platform/spare_descriptor.hpp"
#include "watch/pid_namespaces.hpp"
#include "watch/process_calls.hpp"

namespace knell {

/// What one look at a pid shows.
struct ProcessSnapshot {
    bool nobody = false;                       // no process has this pid
    std::optional<std::uint64_t> start_ticks;  // of whoever has it; nothing: it cannot be read
    bool has_ended = false;                    // and was perhaps not waited for yet
    /// What was read is about its holder.  Empty when descriptors have run out, or where this
    /// system grants none (an old kernel, a seccomp profile).
    Fd pidfd;
    std::string why_unreadable;  // with neither ticks nor an end: what the system said
};

/// What a process looks like from outside.
struct ProcessLook {
    uid_t uid = 0;                  // whose it is
    std::vector<std::string> argv;  // empty where it cannot be read
    std::string cwd;                // the same
};

/// What can be learned about processes by looking.  Safe on any thread.
class ProcessTable {
  public:
    virtual ~ProcessTable() = default;
    /// Who runs under this pid of our own namespace right now; nothing when nobody does.  The id of
    /// a thread counts for its process.
    virtual std::optional<ProcessIdentity> identify(pid_t pid) const = 0;
    virtual ProcessSnapshot look_at(pid_t pid) const = 0;
    /// How `process` went, of which `snapshot` says that it has ended.
    virtual Departure exit_of(const ProcessSnapshot& snapshot,
                              const ProcessIdentity& process) const = 0;
    /// Who is told by the kernel how that process ends; nothing when nobody can say.
    virtual std::optional<pid_t> parent_of(pid_t) const { return std::nullopt; }
    /// Whether that process runs this very program: only of our own wrapper it is known that all
    /// its children are the command's.
    virtual bool is_knell(pid_t) const { return true; }
    /// Of that very process; nothing when it is gone, or cannot be seen.
    virtual std::optional<ProcessLook> look_of(const ProcessIdentity&) const {
        return std::nullopt;
    }
    /// Whose processes we may signal.
    virtual uid_t own_uid() const { return ::geteuid(); }
    virtual const std::string& boot_id() const = 0;
    /// Pids of another namespace mean nothing here.
    virtual std::uint64_t own_pid_namespace() const = 0;
    /// The namespace in which a process that has `pid` here counts; 0: it cannot be told.
    virtual std::uint64_t pid_namespace_of(pid_t pid) const = 0;
    /// Who has that name, by its pid here.  `near`: who named it, or 0.
    virtual Located locate(const NamedPid& named, pid_t near) const = 0;
};

/// The real one, through /proc.
class ProcTable final : public ProcessTable {
  public:
    explicit ProcTable(ProcessCalls calls = {});
    std::optional<ProcessIdentity> identify(pid_t pid) const override;
    ProcessSnapshot look_at(pid_t pid) const override;
    bool is_knell(pid_t pid) const override;
    Departure exit_of(const ProcessSnapshot& snapshot,
                      const ProcessIdentity& process) const override;
    std::optional<pid_t> parent_of(pid_t pid) const override;
    std::optional<ProcessLook> look_of(const ProcessIdentity& process) const override;
    const std::string& boot_id() const override { return boot_id_; }
    /// See PidNamespaces.
    void add_ended_namespace(std::uint64_t inode, std::string why) {
        namespaces_.add_ended(inode, std::move(why));
    }
    std::uint64_t own_pid_namespace() const override { return namespaces_.own(); }
    std::uint64_t pid_namespace_of(pid_t pid) const override { return namespaces_.of(pid); }
    Located locate(const NamedPid& named, pid_t near) const override {
        return namespaces_.find(named, near);
    }

  private:
    const ProcessCalls calls_;
    const std::string boot_id_;
    PidNamespaces namespaces_;
    mutable SpareDescriptor spare_;  // the last one left belongs to the proof of life
};

}  // namespace knell
