#include "testing/event_log.hpp"

#include "base/check.hpp"
#include "store/memory/memory_store.hpp"

namespace knell::testing {

EventLog::EventLog() : store_(make_memory_store()), reader_(std::move(*store_->open_reader())) {}

void EventLog::write(Event event) {
    event.seq = static_cast<Seq>(events_.size()) + 1;
    // A store takes one start and one end of each generation.
    event.generation = static_cast<Generation>(event.seq);
    Batch batch;
    batch.events.push_back(event);
    CHECK(store_->commit(batch));
    events_.push_back(std::move(event));
}

}  // namespace knell::testing
