#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "core/departure.hpp"
#include "core/owner.hpp"
#include "platform/fd.hpp"

namespace knell {

/// What one look at a pid shows.
struct Sight {
    bool nobody = false;                       // no process has this pid
    std::optional<std::uint64_t> start_ticks;  // of whoever has it; nothing: it cannot be read
    bool has_ended = false;                    // and was perhaps not waited for yet
    Fd pidfd;  // what was read is about its holder; empty when descriptors have run out
};

/// What can be learned about processes by looking.  Safe on any thread.
class ProcessTable {
  public:
    virtual ~ProcessTable() = default;
    /// Who runs under this pid right now; nothing when nobody does.
    virtual std::optional<ProcessIdentity> identify(pid_t pid) const = 0;
    virtual Sight look_at(pid_t pid) const = 0;
    /// How `process` went, of which `sight` says that it has ended.
    virtual Departure how_it_went(const Sight& sight, const ProcessIdentity& process) const = 0;
    /// Who is told by the kernel how that process ends; nothing when nobody can say.
    virtual std::optional<pid_t> parent_of(pid_t) const { return std::nullopt; }
    virtual const std::string& boot_id() const = 0;
    /// Pids of another namespace mean nothing here.
    virtual std::uint64_t own_pid_namespace() const = 0;
};

/// The real one, through /proc.
class ProcTable final : public ProcessTable {
  public:
    ProcTable();
    std::optional<ProcessIdentity> identify(pid_t pid) const override;
    Sight look_at(pid_t pid) const override;
    Departure how_it_went(const Sight& sight, const ProcessIdentity& process) const override;
    std::optional<pid_t> parent_of(pid_t pid) const override;
    const std::string& boot_id() const override { return boot_id_; }
    std::uint64_t own_pid_namespace() const override { return pid_namespace_; }

  private:
    const std::string boot_id_;
    const std::uint64_t pid_namespace_;
};

}  // namespace knell
