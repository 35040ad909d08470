#pragma once

#include <string>
#include <vector>

#include "core/event_filter.hpp"

namespace knell {

/// What a subscriber asked to hear, and what a person should know about it.
struct EventChoice {
    EventFilter filter;
    std::vector<std::string> remarks;  // "knell never sends agent:step"
};

/// An event that we never send is no mistake: hooks are shared with programs that do.
EventChoice choose_events(const std::vector<std::string>& patterns);

}  // namespace knell
