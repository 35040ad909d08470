#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "core/event.hpp"

namespace knell {

/// Which events somebody wants to hear: exact names, `session:*`, or `*`.
class EventFilter {
  public:
    /// Wants everything.
    static EventFilter all();

    /// False when no event of knell's has that name or matches that pattern: other programs have
    /// events that we never send, so this is worth a word to a person, not an error.
    bool add(std::string_view pattern);

    bool wants(EventType type) const { return wanted_.test(static_cast<std::size_t>(type)); }
    bool wants_nothing() const { return wanted_.none(); }
    std::vector<EventType> types() const;

    bool operator==(const EventFilter&) const = default;

  private:
    std::bitset<event_type_names.size()> wanted_;
};

}  // namespace knell
