#pragma once

#include "core/end.hpp"

namespace knell {

/// Whether a conversation goes on in a session that ended for that reason, with its next message:
/// nobody meant to end it.
constexpr bool goes_on(Reason reason) {
    switch (reason) {
        case Reason::exited:
        case Reason::signaled:
        case Reason::oom_killed:
        case Reason::owner_lost:
        case Reason::host_restart:
        case Reason::reaped:
        case Reason::node_lost:
        case Reason::shutdown:
        case Reason::detached_expiry:
        case Reason::imported:
        case Reason::superseded:
            return true;
        case Reason::completed:
        case Reason::manual_reset:
        case Reason::auto_reset:
        case Reason::idle_expiry:
        case Reason::daily_reset:
        case Reason::branched:
        case Reason::compression:
            break;
    }
    return false;
}

/// Whether it was reset: the conversation after it is its child.
constexpr bool is_reset(Reason reason) {
    return reason == Reason::manual_reset || reason == Reason::auto_reset ||
           reason == Reason::idle_expiry || reason == Reason::daily_reset;
}

}  // namespace knell
