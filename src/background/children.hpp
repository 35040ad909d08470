#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <poll.h>

#include "background/launcher.hpp"
#include "base/mutex.hpp"
#include "core/background_process.hpp"

namespace knell {

/// The background processes that we started ourselves, each of which
///
///   waits at its gate ─▶ was let go ─▶ has ended ─▶ its exit is on record: reaped
///                     └▶ was refused, and leaves: reaped
///
/// None is reaped before its exit is on record: until then its number is its own, and how it ended
/// can be read, by this daemon or a look that comes late.
///
/// Any thread.
class Children {
  public:
    /// It waits.  `program` is for people.
    void hold(const ProcessId& id, Launched launched, std::string program);
    /// It is not to run.
    void refuse(const ProcessId& id);
    /// It is on record: it may run, in that generation of its session.  False when it does not wait
    /// here: an earlier daemon started it, or nobody.
    bool let_go(const ProcessId& id, Generation generation);
    /// Of one that has ended: why its program was never executed; "" when it was, or may have been.
    std::string why_never_ran(const ProcessIdentity& process);
    /// Its exit is on record.
    void forget(const ProcessId& id);
    /// A child that is dying.
    void reap_later(pid_t pid);

    /// Readable when there is a reason for a step.
    void add_descriptors(std::vector<pollfd>& out) const;
    /// Reads what they report, and reaps.
    void step();
    /// There is something that no descriptor tells of: a step is due soon.
    bool has_unreaped() const;
    std::size_t count() const;

  private:
    struct Child {
        GatedChild process;
        ProcessIdentity identity;
        std::string program;
        bool was_let_go = false;
        std::optional<SpawnFailure> failure;
    };

    void look(const ProcessId& id, Child& child) KNELL_REQUIRES(mutex_);
    void reap() KNELL_REQUIRES(mutex_);

    mutable Mutex mutex_;
    std::map<ProcessId, Child> children_ KNELL_GUARDED_BY(mutex_);
    std::map<std::int32_t, ProcessId> by_pid_ KNELL_GUARDED_BY(mutex_);
    std::set<ProcessId> reporting_ KNELL_GUARDED_BY(mutex_);  // let go, and not yet executed
    std::set<pid_t> unreaped_ KNELL_GUARDED_BY(mutex_);
};

}  // namespace knell
