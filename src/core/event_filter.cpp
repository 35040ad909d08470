#include "core/event_filter.hpp"

namespace knell {

namespace {

bool matches(std::string_view name, std::string_view pattern) {
    if (pattern == "*" || pattern == name) return true;
    if (!pattern.ends_with(":*")) return false;
    return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

EventFilter EventFilter::all() {
    EventFilter filter;
    filter.wanted_.set();
    return filter;
}

bool EventFilter::add(std::string_view pattern) {
    bool found = false;
    for (std::size_t i = 0; i < event_type_names.size(); ++i) {
        if (!matches(event_type_names.at(i), pattern)) continue;
        wanted_.set(i);
        found = true;
    }
    return found;
}

std::vector<EventType> EventFilter::types() const {
    std::vector<EventType> types;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
        if (wanted_.test(i)) types.push_back(static_cast<EventType>(i));
    }
    return types;
}

}  // namespace knell
