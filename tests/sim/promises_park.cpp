// A parked session has outlived its owner: until it is over, and in its end, it says how that went.

#include <fmt/format.h>

#include "promises.hpp"

namespace knell::sim {

namespace {

/// `why` begins with the reason that an end would have had.
std::string false_reason(std::string_view why, const Life& life, const Scene& scene) {
    const auto word = why.substr(0, why.find_first_of(",:"));
    const auto reason = parse_reason(word);
    if (!reason) return fmt::format("\"{}\" does not say how its owner went", why);
    if (*reason == Reason::completed) {
        return exited_well(life, scene) ? "" : "nobody said that it completed";
    }
    return owner_is_well(*reason, life, scene);
}

std::string silent(const SessionId& id, const LiveSession& live, const Scene& scene) {
    if (live.park_why().empty() || !live.parked_before()) return "it does not say why";
    const auto* life = scene.ledger.life(id, live.generation());
    if (life == nullptr || !life->is_owner_known) return {};
    if (auto what = false_reason(live.park_why(), *life, scene); !what.empty()) return what;
    return false_park(*life, live, scene);
}

}  // namespace

std::string parked_silent(const Scene& scene) {
    if (scene.state == nullptr || scene.state->parked_count() == 0) return {};
    for (const auto& [id, known] : scene.ledger.sessions()) {
        const auto* live = known.open ? scene.state->find(SessionId(id)) : nullptr;
        if (live == nullptr || !live->parked_since()) continue;
        const auto what = silent(SessionId(id), *live, scene);
        if (!what.empty()) return fmt::format("session {} is parked: {}", id, what);
    }
    return {};
}

std::string parked_death_hidden(const Scene& scene) {
    for (const auto& event : scene.step.told) {
        if (!event.end) continue;
        const bool was_parked =
            event.end->detail == "park window over" ||
            (event.end->detail == "claimed" && event.end->reason == Reason::superseded);
        if (!was_parked) continue;
        const auto* life = scene.ledger.life(event.session_id, event.generation);
        if (life == nullptr || !life->is_owner_known) continue;
        constexpr std::string_view begins = "; it was parked: its owner went between ";
        const std::string_view evidence = event.end->evidence;
        const auto at = evidence.find(begins);
        const auto why = at == evidence.npos ? at : evidence.find('(', at);
        const auto what = why == evidence.npos
                              ? fmt::format("\"{}\" does not say how its owner went", evidence)
                              : false_reason(evidence.substr(why + 1), *life, scene);
        if (what.empty()) continue;
        return fmt::format("session {} generation {} ({}): {}", event.session_id.text(),
                           event.generation, event.end->detail, what);
    }
    return {};
}

}  // namespace knell::sim
