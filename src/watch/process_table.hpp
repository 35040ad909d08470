#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "core/owner.hpp"

namespace knell {

/// What can be learned about processes by looking.  Safe on any thread.
class ProcessTable {
  public:
    virtual ~ProcessTable() = default;
    /// Who runs under this pid right now; nothing when nobody does.
    virtual std::optional<ProcessIdentity> identify(pid_t pid) const = 0;
    virtual const std::string& boot_id() const = 0;
    /// Pids of another namespace mean nothing here.
    virtual std::uint64_t own_pid_namespace() const = 0;
};

/// The real one, through /proc.
class ProcTable final : public ProcessTable {
  public:
    ProcTable();
    std::optional<ProcessIdentity> identify(pid_t pid) const override;
    const std::string& boot_id() const override { return boot_id_; }
    std::uint64_t own_pid_namespace() const override { return pid_namespace_; }

  private:
    const std::string boot_id_;
    const std::uint64_t pid_namespace_;
};

}  // namespace knell
