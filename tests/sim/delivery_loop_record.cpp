// What is on record of subscribers, and whom the daemon was told to forget.

#include <algorithm>

#include "delivery_loop.hpp"

namespace knell::sim {

namespace {
constexpr std::size_t letters_max = 10'000;
}  // namespace

// --- saving -------------------------------------------------------------------------------------

std::optional<SaveDeliveries> DeliveryLoop::take_save(bool is_awaited) {
    const auto now = host_.now().steady;
    if (is_clean() || !saver_.is_time(*scheduler_, is_awaited, now)) return std::nullopt;
    for (auto& [name, forgotten] : ledger_.forgotten) {
        for (auto& entry : forgotten) entry.is_handed_on = true;
    }
    return SaveDeliveries{saver_.begin(*scheduler_, now)};
}

std::optional<SaveDeliveries> DeliveryLoop::take_rest() {
    if (saver_.is_saving()) return std::nullopt;
    for (auto& [name, forgotten] : ledger_.forgotten) {
        for (auto& entry : forgotten) entry.is_handed_on = true;
    }
    auto changes = saver_.take_rest(*scheduler_);
    if (changes.empty()) return std::nullopt;
    return SaveDeliveries{std::move(changes)};
}

void DeliveryLoop::finish_save(bool ok) {
    saver_.finish(ok);
    if (!ok) {
        for (const auto& entry : ledger_.forgotten) {
            if (!entry.second.back().is_handed_on) continue;
            watchers_.happened(HookHappening::forget_refused, HookState::absent);
        }
        return compare_with_record();
    }
    for (auto& [name, forgotten] : ledger_.forgotten) {
        std::erase_if(forgotten, [](const Forgotten& entry) { return entry.is_handed_on; });
    }
    std::erase_if(ledger_.forgotten, [](const auto& entry) { return entry.second.empty(); });
    read_record(/*at_start=*/false);
}

// --- reading ------------------------------------------------------------------------------------

std::optional<Place> DeliveryLoop::place_of(const std::string& name) const {
    Place place;
    const auto rows = node_.reader().subscriptions();
    if (!rows) return std::nullopt;
    const auto row = std::ranges::find(*rows, name, &Subscription::name);
    place.has_row = row != rows->end();
    if (place.has_row) place.cursor = row->cursor;
    const auto letters = node_.reader().letters({.subscriber = name,
                                                 .state = {},
                                                 .after = 0,
                                                 .limit = letters_max,
                                                 .after_subscriber = {}});
    if (!letters) return std::nullopt;
    for (const auto& letter : *letters) {
        if (letter.rendered.type == "gap") {
            place.gap_letters.push_back(gap_in(letter.rendered));
        } else {
            place.letters.insert(letter.rendered.seq);
        }
    }
    return place;
}

bool DeliveryLoop::read_record(bool at_start) {
    for (auto& [name, hearing] : ledger_.hearings) {
        auto place = place_of(name);
        if (!place) return false;
        if (at_start) find_out_who_is_left(name, *place);
        watchers_.saved(name, hearing, *place);
        hearing.place = std::move(*place);
        hearing.had_place = hearing.place.has_row;
        hearing.checked_to = hearing.place.cursor;
    }
    return true;
}

/// A daemon that is no more was told to forget it, perhaps several times, and nobody was told that
/// it is done.  So it is, or it is not, but nothing in between.
void DeliveryLoop::find_out_who_is_left(const std::string& name, const Place& place) {
    const auto forgotten = ledger_.forgotten.extract(name);
    if (forgotten.empty()) return;
    auto& hearing = ledger_.hearings.at(name);
    auto& formers = forgotten.mapped();
    if (!place.has_row) {
        // Nobody can have written that.
        if (!formers.front().is_handed_on) hearing = std::move(formers.front().former);
        return;
    }
    if (hearing.can_have(place)) return;
    for (auto entry = formers.rbegin(); entry != formers.rend(); ++entry) {
        if (!entry->former.can_have(place)) continue;
        hearing = std::move(entry->former);
        return;
    }
}

void DeliveryLoop::compare_with_record() {
    for (const auto& [name, hearing] : ledger_.hearings) {
        const auto place = place_of(name);
        if (!place) return;
        const auto forgotten = ledger_.forgotten.find(name);
        const bool is_forgotten = forgotten != ledger_.forgotten.end();
        watchers_.refused(is_forgotten ? forgotten->second.front().former : hearing, *place);
    }
}

std::vector<std::string> DeliveryLoop::unsaved() const {
    std::vector<std::string> names;
    const auto rows = node_.reader().subscriptions();
    if (!rows) return names;
    for (const auto& report : scheduler_->report(host_.now())) {
        if (std::ranges::find(*rows, report.subscription) == rows->end()) {
            names.push_back(report.subscription.name);
        }
    }
    return names;
}

}  // namespace knell::sim
