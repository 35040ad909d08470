#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/end.hpp"
#include "core/ids.hpp"

namespace knell {

/// What one look at every owner process showed.
struct SweepReport {
    struct Ended {
        SessionId session_id;
        std::int32_t pid = 0;
        Reason reason = Reason::owner_lost;
        std::string evidence;
        bool parks = false;  // waits for its next owner instead
    };
    struct LeftAlone {
        SessionId session_id;
        std::int32_t pid = 0;
        bool is_unknown = false;  // its owner could not be checked; else it is alive
        std::string why;
    };

    bool dry_run = false;
    std::vector<Ended> ended;  // a page of them
    std::size_t ended_count = 0;
    std::vector<LeftAlone> left_alone;
    std::size_t left_alone_count = 0;
    std::optional<Ordinal> next;  // more than could be named follow this one
    std::size_t leases = 0;
    std::size_t parked = 0;
};

}  // namespace knell
