#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "base/time.hpp"
#include "cli/session_name.hpp"
#include "platform/terminal.hpp"
#include "wire/json.hpp"

namespace knell::cli {

/// Events that are all there, as a table; `names`: what stands for ids in it.
std::string event_table(const std::deque<Json>& events, const Terminal& terminal, WallTime now,
                        const ShortIds& names = {});

/// The ids of the sessions that they are about.
std::vector<std::string> sessions_in(const std::deque<Json>& events);

/// Prints events that come piece by piece, and what is missing between them.
class EventPrinter {
  public:
    EventPrinter(bool json, const Terminal& terminal) : json_(json), terminal_(terminal) {}

    /// At once, also when nothing has happened yet: it shows that somebody listens.
    void print_heading() const;
    void print_events(const std::deque<Json>& events, const ShortIds& names) const;
    /// Whether there are to be names.
    bool is_for_a_screen() const { return !json_ && terminal_.interactive; }
    void print_gap(std::int64_t from, std::int64_t to) const;

  private:
    const bool json_;
    const Terminal terminal_;
};

}  // namespace knell::cli
