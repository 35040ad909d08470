#pragma once

#include <memory>
#include <vector>

#include "store/store.hpp"

namespace knell::testing {

/// A log in memory that a test writes event by event.
class EventLog {
  public:
    EventLog();

    /// Committed under the next number.
    void write(Event event);
    /// Events up to that one are kept no longer.
    void trim(Seq last) { (void)store_->trim_events(last, 1000); }
    /// All that was written.
    const std::vector<Event>& events() const { return events_; }
    Reader& reader() { return *reader_; }

  private:
    std::unique_ptr<Store> store_;
    std::unique_ptr<Reader> reader_;
    std::vector<Event> events_;
};

}  // namespace knell::testing
