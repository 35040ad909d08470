// About subscribers that come and go: what is kept of them, and for how long.

#include <algorithm>

#include <fmt/format.h>

#include "promises.hpp"

namespace knell::sim {

namespace {

bool is_same(const SubscriberReport& a, const SubscriberReport& b) {
    return a.subscription == b.subscription && a.absent == b.absent && a.failing == b.failing &&
           a.waiting == b.waiting && a.dead == b.dead && a.under_way == b.under_way &&
           a.next_try_in == b.next_try_in;
}

}  // namespace

std::string heard_from_before(const Scene& scene) {
    const auto& rendered = *scene.rendered;
    const auto first = rendered.type == "gap" ? gap_in(rendered).from : rendered.seq;
    if (first > scene.hearing->forgotten_at) return {};
    return fmt::format("event {} is heard, and one of that name was forgotten at {}", first,
                       scene.hearing->forgotten_at);
}

std::string place_lost(const Scene& scene) {
    if (!scene.hearing->had_place || scene.place->has_row) return {};
    return fmt::format("{} is no longer on record, and nobody asked for that", scene.subscriber);
}

std::string forgotten_but_kept(const Scene& scene) {
    const auto& hearing = *scene.hearing;
    const auto& place = *scene.place;
    if (place.has_letter_until(hearing.forgotten_at)) {
        return fmt::format("{} was forgotten at {}, and has letters from before", scene.subscriber,
                           hearing.forgotten_at);
    }
    if (!place.has_row && !(place.letters.empty() && place.gap_letters.empty())) {
        return fmt::format("{} is not on record, but letters for it are", scene.subscriber);
    }
    if (!place.has_row) return {};
    if (hearing.has_come && place.cursor >= hearing.forgotten_at) return {};
    return fmt::format("{} was forgotten at {}, and has a place at {}", scene.subscriber,
                       hearing.forgotten_at, place.cursor);
}

std::string record_changed(const Scene& scene) {
    if (scene.hearing->place == *scene.place) return {};
    return fmt::format("the place was at {} with {} letters, and is at {} with {}",
                       scene.hearing->place.cursor, scene.hearing->place.letters.size(),
                       scene.place->cursor, scene.place->letters.size());
}

std::string courier_differs(const Scene& scene) {
    // What has changed since is said with the next save.
    if (scene.scheduler == nullptr || scene.scheduler->has_changes()) return {};
    const auto reports = scene.scheduler->report(scene.host.now());
    const auto known = std::ranges::find_if(reports, [&](const SubscriberReport& report) {
        return report.subscription.name == scene.subscriber;
    });
    const auto rows = scene.reader->subscriptions();
    if (!rows) return {};
    const auto row = std::ranges::find(*rows, scene.subscriber, &Subscription::name);
    if ((known == reports.end()) != (row == rows->end())) {
        return fmt::format("{} is known to one of them only", scene.subscriber);
    }
    if (known == reports.end()) return {};
    if (known->subscription != *row) {
        return fmt::format("{} differs: its row, at {} in the store, at {} in memory",
                           scene.subscriber, row->cursor, known->subscription.cursor);
    }
    const auto letters = scene.place->letters.size() + scene.place->gap_letters.size();
    if (known->waiting + known->dead == letters) return {};
    return fmt::format("{} has {} letters in the store, {} in memory", scene.subscriber, letters,
                       known->waiting + known->dead);
}

std::string wrongly_forgotten(const Scene& scene) {
    using enum DeliveryScheduler::Forgetting;
    const auto& asked = *scene.asked;
    const auto right = asked.is_there ? still_there : asked.is_known ? forgotten : unknown;
    if (asked.answer != right) {
        return fmt::format("{} is {} and {}, which the answer denies", asked.name,
                           asked.is_there ? "there" : "absent",
                           asked.is_known ? "known" : "unknown");
    }
    auto expected = asked.before;
    if (right == forgotten) {
        std::erase_if(expected, [&](const SubscriberReport& report) {
            return report.subscription.name == asked.name;
        });
    }
    if (std::ranges::equal(expected, asked.after, is_same)) return {};
    return fmt::format("to forget {} has changed another, or itself", asked.name);
}

}  // namespace knell::sim
