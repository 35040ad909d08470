#include "config/event_choice.hpp"

#include <fmt/format.h>

namespace knell {

EventChoice choose_events(const std::vector<std::string>& patterns) {
    EventChoice choice;
    for (const auto& pattern : patterns) {
        if (choice.filter.add(pattern)) continue;
        choice.remarks.push_back(fmt::format("knell never sends {}", pattern));
    }
    if (choice.filter.wants_nothing()) {
        choice.remarks.emplace_back("it hears nothing: knell sends none of its events");
    }
    return choice;
}

}  // namespace knell
