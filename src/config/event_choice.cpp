#include "config/event_choice.hpp"

#include <fmt/format.h>

#include "config/nearest_word.hpp"
#include "core/event.hpp"

namespace knell {

namespace {

/// What it was probably meant to be, as the end of a sentence; "" when nothing is near.
std::string meant_by(std::string_view pattern) {
    const auto meant = nearest_word(
        pattern, std::vector<std::string>(event_type_names.begin(), event_type_names.end()));
    return meant.empty() ? "" : fmt::format("; did you mean {}?", meant);
}

}  // namespace

EventChoice choose_events(const std::vector<std::string>& patterns) {
    EventChoice choice;
    for (const auto& pattern : patterns) {
        if (choice.filter.add(pattern)) continue;
        choice.remarks.push_back(fmt::format("knell never sends {}{}", pattern, meant_by(pattern)));
    }
    if (choice.filter.wants_nothing()) {
        choice.remarks.emplace_back("it hears nothing: knell sends none of its events");
    }
    return choice;
}

}  // namespace knell
