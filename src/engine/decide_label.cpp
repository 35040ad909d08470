// What a person writes on a session: its title, and that it is to be kept.

#include <algorithm>

#include "engine/decide_on.hpp"
#include "engine/end_events.hpp"
#include "engine/refusals.hpp"

namespace knell {

Decided<Label::Reply> decide_on(Label&& label, const Session* row, const State& state) {
    if (row == nullptr) return refuse(not_found(label.session_id));
    const Labels before{.title = row->title, .pinned = row->pinned};
    Labels labels{.title = std::move(label.title).value_or(before.title),
                  .pinned = label.pinned.value_or(before.pinned)};
    const bool changed = labels != before;
    auto decision = reply_with(LabelledReply{label.session_id, row->generation, labels, changed});
    if (!changed) return decision;
    const auto* live = state.find(label.session_id);
    // The clock may have been set back since it ended.
    const auto last = row->end ? row->end->ended_before : row->last_activity_at;
    const auto time = live != nullptr ? state.time_for(*live) : std::max(state.now().wall, last);
    auto after = *row;
    after.title = labels.title;
    auto event = event_about(after, EventType::session_update, time);
    event.labels = labels;
    event.after_end = row->end.has_value();
    decision.events.push_back(std::move(event));
    decision.changes.emplace_back(
        Labelled{{label.session_id, row->ordinal, row->generation}, labels, fold_of(after)});
    return decision;
}

}  // namespace knell
