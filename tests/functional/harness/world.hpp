#pragma once

#include <map>
#include <string>

namespace knell::functional {

/// The system that processes under test find, by $KNELL_TEST_WORLD; unset, it is the one that there
/// is.  What a world takes away is refused by the kernel, so that the binary is the one that is
/// shipped.
///
///   linux-6.1    as Debian 12: a pidfd does not tell how its process ended, a socket has no pidfd
///                of its peer
///   no-pidfd     an older kernel, or a sandbox: no pidfd at all
///   no-inotify   all watches are taken
///   c-locale     LC_ALL=C
struct World {
    /// In the child, before it executes: only calls that are safe after a fork.  False when the
    /// kernel would not have it.
    bool enter() const;
    std::map<std::string, std::string> environment() const;
    /// Whether the daemon can tell how an owner ended that somebody else has waited for.
    bool keeps_exit_status() const;

    std::string name;
};

const World& world();

}  // namespace knell::functional
