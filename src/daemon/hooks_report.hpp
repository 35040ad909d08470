#pragma once

#include <vector>

#include "daemon/subscriber_config.hpp"
#include "deliver/delivery_scheduler.hpp"
#include "deliver/rendered_event.hpp"
#include "rpc/reports.hpp"

namespace knell {

/// Every hook and webhook with how it goes, and what is wrong with which file.
rpc::HooksReport report_hooks(const std::vector<SubscriberReport>& reports,
                              const SubscriberConfig& subscriber_config, Now now);

/// An event that never happened, marked as such, for `hooks.test`.
RenderedEvent sample_event(const EventFilter& events, const std::string& node_id,
                           std::uint64_t number, Now now);

}  // namespace knell
