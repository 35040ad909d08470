#pragma once

#include <vector>

#include "daemon/subscriber_config.hpp"
#include "deliver/delivery_scheduler.hpp"
#include "deliver/rendered_event.hpp"
#include "wire/json.hpp"

namespace knell {

/// `hooks.list`: every hook and webhook with how it goes, and what is wrong with which file.
Json hooks_to_json(const std::vector<SubscriberReport>& reports,
                   const SubscriberConfig& subscriber_config, Now now);

/// How a test went.
Json to_json(const Outcome& outcome, std::chrono::milliseconds took);

/// An event that never happened, marked as such, for `hooks.test`.
RenderedEvent sample_event(const EventFilter& events, const std::string& node_id,
                           std::uint64_t number, Now now);

}  // namespace knell
