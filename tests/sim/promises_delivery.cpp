// About subscribers: what each was given, against the log.

#include <fmt/format.h>

#include "promises.hpp"
#include "wire/session_json.hpp"

namespace knell::sim {

namespace {

bool is_gap(const RenderedEvent& rendered) {
    return rendered.type == "gap";
}

}  // namespace

std::string rendered_differs(const Scene& scene) {
    const auto& rendered = *scene.rendered;
    if (is_gap(rendered)) return {};
    if (rendered.seq < 1 || rendered.seq > scene.ledger.head()) {
        return fmt::format("event {} is not in the log", rendered.seq);
    }
    const auto& event = scene.ledger.log()[static_cast<std::size_t>(rendered.seq - 1)];
    if (!scene.hearing->may_hear(event))
        return fmt::format("event {} was not wanted", rendered.seq);
    const auto json = wire::to_text(wire::to_json(event, scene.node_id));
    if (json == rendered.json) return {};
    return fmt::format("event {} was heard as {}, the log says {}", rendered.seq, rendered.json,
                       json);
}

std::string out_of_order(const Scene& scene) {
    const auto& rendered = *scene.rendered;
    const auto& hearing = *scene.hearing;
    if (is_gap(rendered) || hearing.deliveries.contains(rendered.seq) ||
        hearing.dead.contains(rendered.seq)) {
        return {};
    }
    // What the log has deleted is told as a gap, which waits for no session.
    for (auto seq = std::max(hearing.since + 1, scene.first_kept); seq < rendered.seq; ++seq) {
        const auto& event = scene.ledger.log()[static_cast<std::size_t>(seq - 1)];
        if (event.session_id.text() != rendered.session_id || !hearing.must_hear(event)) continue;
        if (hearing.has_been_given(seq) || hearing.dead.contains(seq)) continue;
        return fmt::format("event {} of session {} is heard before event {}", rendered.seq,
                           rendered.session_id, seq);
    }
    return {};
}

std::string heard_again(const Scene& scene) {
    const auto given = scene.hearing->deliveries.find(scene.rendered->seq);
    if (is_gap(*scene.rendered) || given == scene.hearing->deliveries.end()) return {};
    if (!given->second.delivered || given->second.may_repeat) return {};
    return fmt::format("event {} was delivered before", scene.rendered->seq);
}

std::string view_differs(const Scene& scene) {
    const auto& hearing = *scene.hearing;
    const auto& place = *scene.place;
    for (auto seq = std::max(hearing.checked_to, hearing.since) + 1;
         seq <= std::min(place.cursor, scene.ledger.head()); ++seq) {
        const auto& event = scene.ledger.log()[static_cast<std::size_t>(seq - 1)];
        if (!hearing.must_hear(event) || hearing.has_been_given(seq)) continue;
        if (place.has_letter(seq)) continue;
        return fmt::format("its cursor is at {}, event {} was neither delivered nor kept",
                           place.cursor, seq);
    }
    if (place.cursor < hearing.checked_to) {
        return fmt::format("its cursor went back from {} to {}", hearing.checked_to, place.cursor);
    }
    return {};
}

std::string delivered_but_kept(const Scene& scene) {
    for (const auto seq : scene.place->letters) {
        const auto given = scene.hearing->deliveries.find(seq);
        if (given == scene.hearing->deliveries.end() || given->second.may_repeat) continue;
        if (given->second.delivered) {
            return fmt::format("event {} was delivered, and is kept to be sent again", seq);
        }
    }
    return {};
}

std::string not_all_heard(const Scene& scene) {
    for (const auto& [name, hearing] : scene.ledger.hearings) {
        for (auto seq = hearing.since + 1; seq <= scene.ledger.head(); ++seq) {
            const auto& event = scene.ledger.log()[static_cast<std::size_t>(seq - 1)];
            if (!hearing.must_hear(event) || hearing.has_been_given(seq)) continue;
            return fmt::format("{} has never heard of event {} ({})", name, seq,
                               name_in(event_type_names, event.type));
        }
    }
    for (const auto& report : scene.scheduler->report(scene.host.now())) {
        if (report.lag == 0 && report.waiting == 0 && report.under_way == 0) continue;
        return fmt::format("{} lags by {}, {} letters wait, {} attempts are under way",
                           report.subscription.name, report.lag, report.waiting, report.under_way);
    }
    return {};
}

}  // namespace knell::sim
