#include "core/departure.hpp"

#include <cstring>

#include <fmt/format.h>

namespace knell {

Reason reason_for(const Departure& departure, bool is_command) {
    switch (departure.kind) {
        case Departure::Kind::exited:
            return is_command && departure.number == 0 ? Reason::completed : Reason::exited;
        case Departure::Kind::signaled:
            return Reason::signaled;
        case Departure::Kind::oom_killed:
            return Reason::oom_killed;
        case Departure::Kind::lost:
            return Reason::owner_lost;
        case Departure::Kind::host_restart:
            return Reason::host_restart;
    }
    return Reason::owner_lost;
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
    }
    return {};
}

}  // namespace knell
