#pragma once

#include <vector>

#include "daemon/roster.hpp"
#include "deliver/courier.hpp"
#include "deliver/parcel.hpp"
#include "wire/json.hpp"

namespace knell {

/// `hooks.list`: every hook and webhook with how it goes, and what is wrong with which file.
Json hooks_to_json(const std::vector<SubscriberReport>& reports, const Roster& roster, Now now);

/// How a test went.
Json to_json(const Outcome& outcome, std::chrono::milliseconds took);

/// An event that never happened, marked as such, for `hooks.test`.
Parcel sample_parcel(const EventFilter& events, const std::string& node_id, std::uint64_t number,
                     Now now);

}  // namespace knell
