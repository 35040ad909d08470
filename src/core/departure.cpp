#include "core/departure.hpp"

#include <cstring>

#include <fmt/format.h>

namespace knell {

EndPath path_for(const Departure& departure, bool is_command) {
    switch (departure.kind) {
        case Departure::Kind::exited:
            return is_command && departure.number == 0 ? EndPath::command_completed
                                                       : EndPath::owner_exited;
        case Departure::Kind::signaled:
            return EndPath::owner_signaled;
        case Departure::Kind::oom_killed:
            return EndPath::owner_oom_killed;
        case Departure::Kind::lost:
            return EndPath::owner_lost;
        case Departure::Kind::host_restart:
            return EndPath::host_restarted;
        case Departure::Kind::stopped:
            return EndPath::daemon_stopped;
    }
    return EndPath::owner_lost;
}

Reason reason_for(const Departure& departure, bool is_command) {
    return *row_of(path_for(departure, is_command)).reason;
}

std::string detail_for(const Departure& departure) {
    switch (departure.kind) {
        case Departure::Kind::exited:
            return fmt::format("exit {}", departure.number);
        case Departure::Kind::signaled:
        case Departure::Kind::oom_killed: {
            const auto* name = sigabbrev_np(departure.number);
            return name == nullptr ? fmt::format("signal {}", departure.number)
                                   : fmt::format("signal {} (SIG{})", departure.number, name);
        }
        case Departure::Kind::lost:
        case Departure::Kind::host_restart:
            return {};
        case Departure::Kind::stopped:
            return "daemon stopped";
    }
    return {};
}

}  // namespace knell
