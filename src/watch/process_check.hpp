#pragma once

#include <string>
#include <variant>

#include "core/departure.hpp"
#include "core/owner.hpp"
#include "platform/fd.hpp"
#include "watch/process_table.hpp"

namespace knell {

/// What can be said about a process that was once identified.  Three answers: there, gone, or
/// cannot be told; nothing may be ended on the last.
struct StillThere {
    Fd pidfd;  // may be empty when descriptors have run out
};
struct Gone {
    Departure departure;
};
struct CannotTell {
    std::string why;
};
using Finding = std::variant<StillThere, Gone, CannotTell>;

/// Looks for exactly this process: same boot, same pid namespace, same start.  A stranger under the
/// same pid is proof of its death.
Finding look_for(const ProcessIdentity& process, const ProcessTable& table);

/// Whether `teller` has how that process ended from the kernel: it is its parent, which has not
/// waited for it yet, or a knell that does the talking for its own parent, a `knell run`.
bool is_parents_word(const ProcessIdentity& ended, pid_t teller, const ProcessTable& table);

/// Whether a process that has ended is still there because its parent, which may know more of its
/// end, has not waited for it.
bool has_parent_to_tell(const ProcessIdentity& process, const ProcessTable& table);

/// It has ended and its parent has yet to take notice.
bool is_unwaited_for(const ProcessIdentity& process, const ProcessTable& table);

/// It has ended, and was all its life a copy of who forked it: it has executed no program.  False
/// also when that cannot be told any more.
bool has_never_executed(const ProcessIdentity& process, const ProcessTable& table);

/// How the process behind `pidfd` ended, as far as the kernel tells.  It has ended.
Departure departure_of(int pidfd, const ProcessIdentity& process);

}  // namespace knell
