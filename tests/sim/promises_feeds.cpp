// About followers: what each was sent, against the log.

#include <fmt/format.h>

#include "promises.hpp"
#include "wire/session_json.hpp"

namespace knell::sim {

namespace {

std::string false_gap(const Gap& gap, Seq cursor, Seq first_kept) {
    if (gap.from > cursor && gap.from <= gap.to && gap.to < first_kept) return {};
    return fmt::format(
        "events {} to {} are told to be lost; it has heard up to {}, kept is from {}", gap.from,
        gap.to, cursor, first_kept);
}

}  // namespace

std::string feed_differs(const Scene& scene) {
    const auto& following = *scene.following;
    const auto& line = *scene.feed_line;
    if (line.gap) return false_gap(*line.gap, following.cursor, scene.first_kept);
    const auto seq = line.seq();
    if (seq > scene.ledger.head()) return fmt::format("event {} is not in the log", seq);
    if (seq <= following.cursor) {
        return fmt::format("event {} is told after event {}", seq, following.cursor);
    }
    const auto at = [&](Seq number) -> const Event& {
        return scene.ledger.log()[static_cast<std::size_t>(number - 1)];
    };
    for (auto skipped = following.cursor + 1; skipped < seq; ++skipped) {
        if (following.query.wants(at(skipped))) return fmt::format("event {} is missing", skipped);
    }
    if (!following.query.wants(at(seq))) return fmt::format("event {} was not wanted", seq);
    const auto json = wire::to_text(wire::to_json(at(seq), scene.node_id));
    if (json == line.event) return {};
    return fmt::format("event {} is told as {}, the log says {}", seq, line.event, json);
}

std::string feed_silent(const Scene& scene) {
    for (std::size_t who = 0; who < scene.ledger.followings.size(); ++who) {
        const auto& following = scene.ledger.followings[who];
        if (!following.has_begun) continue;
        for (auto seq = following.cursor + 1; seq <= scene.ledger.head(); ++seq) {
            const auto& event = scene.ledger.log()[static_cast<std::size_t>(seq - 1)];
            if (!following.query.wants(event)) continue;
            return fmt::format("follower {} was never told event {} ({})", who, seq,
                               name_in(event_type_names, event.type));
        }
    }
    return {};
}

}  // namespace knell::sim
