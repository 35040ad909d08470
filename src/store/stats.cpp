#include "store/stats.hpp"

#include <cstdint>

namespace knell {

void add_up(std::int64_t& sum, std::int64_t more) {
    sum = sum > INT64_MAX - more ? INT64_MAX : sum + more;
}

void count_tokens(DayStats& counts, const Message& message) {
    Tally tally;
    count(tally, message);
    add_up(counts.input_tokens, tally.input_tokens);
    add_up(counts.output_tokens, tally.output_tokens);
}

void count_event(DayStats& counts, const Event& event) {
    if (event.type == EventType::session_start) ++counts.starts;
    if (event.type == EventType::session_end && event.end) ++counts.ends[event.end->reason];
}

}  // namespace knell
