#include "hearing.hpp"

#include <algorithm>

#include "wire/json.hpp"

namespace knell::sim {

namespace {

bool is_in_one_of(const std::vector<Gap>& gaps, Seq seq) {
    return std::ranges::any_of(gaps,
                               [&](const Gap& gap) { return gap.from <= seq && seq <= gap.to; });
}

}  // namespace

Gap gap_in(const RenderedEvent& rendered) {
    const auto json = wire::parse_json(rendered.json);
    return {wire::int_at(json->as_object(), "from"), wire::int_at(json->as_object(), "to")};
}

bool Place::has_letter(Seq seq) const {
    return letters.contains(seq) || is_in_one_of(gap_letters, seq);
}

bool Place::has_letter_until(Seq seq) const {
    return (!letters.empty() && *letters.begin() <= seq) ||
           std::ranges::any_of(gap_letters, [&](const Gap& gap) { return gap.from <= seq; });
}

void Hearing::wish(Seq head, const EventFilter& filter) {
    if (wishes.empty() || wishes.back().filter != filter) wishes.push_back({head, filter});
}

/// An event that was there before a wish is read may have been read under that wish or one before.
bool Hearing::must_hear(const Event& event) const {
    if (!has_come || event.seq <= since) return false;
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        const bool was_over = i + 1 < wishes.size() && wishes[i + 1].from < event.seq;
        if (!was_over && !wishes[i].filter.wants(event.type)) return false;
    }
    return true;
}

bool Hearing::may_hear(const Event& event) const {
    if (!has_come || event.seq <= since) return false;
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        const bool was_over = i + 1 < wishes.size() && wishes[i + 1].from < event.seq;
        if (!was_over && wishes[i].filter.wants(event.type)) return true;
    }
    return false;
}

bool Hearing::was_told_lost(Seq seq) const {
    return is_in_one_of(gaps, seq);
}

bool Hearing::has_been_given(Seq seq) const {
    const auto given = deliveries.find(seq);
    return (given != deliveries.end() && given->second.delivered) || was_told_lost(seq);
}

void Hearing::may_be_repeated() {
    for (auto& [seq, given] : deliveries) {
        if (seq > place.cursor || place.has_letter(seq)) given.may_repeat = true;
    }
}

bool Hearing::can_have(const Place& other) const {
    return has_come && other.cursor >= since && !other.has_letter_until(since);
}

}  // namespace knell::sim
