// What can be read of what the daemon did.

#include <algorithm>

#include <fmt/format.h>

#include "world.hpp"

namespace knell::sim {

namespace {
using namespace std::chrono_literals;
}  // namespace

std::vector<Event> World::take_in_start() {
    const auto told = read_new_events();
    const auto is_startup = [](const Event& e) { return e.type == EventType::gateway_startup; };
    const auto after = std::find_if(told.rbegin(), told.rend(), is_startup).base();
    const auto startup = after == told.begin() ? after : after - 1;
    StepFacts former;
    former.by_former = true;
    former.decided_at = std::exchange(decided_at_, {});
    former.told.assign(told.begin(), startup);
    take_in(former, Moment::former);
    StepFacts facts;
    facts.by_start = true;
    facts.decided_at = start_decided_at_;
    facts.told.assign(startup, told.end());
    take_in(facts, Moment::settled);
    return told;
}

void World::take_in(const StepFacts& facts, Moment moment) {
    for (const auto& said : facts.said) {
        if (const auto* active = as<ProcessActive>(said.input)) {
            say(fmt::format("  {} is seen {}{}", active->process_id.text(),
                            name_in(process_activity_names, active->facts.activity),
                            active->stale ? ", for long" : ""));
        }
    }
    for (const auto& event : facts.told) {
        say(fmt::format("  event {} {} {} {} {}", event.seq, name_in(event_type_names, event.type),
                        event.session_id.text(), event.generation,
                        event.end       ? name_of(event.end->reason)
                        : event.process ? event.process->id.text()
                                        : ""));
    }
    check(Moment::step, scene(facts));
    if (broken_) return;
    clients_.note(facts);
    ledger_.note(facts);
    told_at_.resize(ledger_.log().size(), host_.elapsed());
    for (const auto& event : facts.told) {
        if (event.type != EventType::session_start) continue;
        // Those that the daemon named itself.
        if (std::ranges::find(ids_, event.session_id.text()) == ids_.end()) {
            ids_.push_back(event.session_id.text());
        }
        if (const auto row = node_.reader().find(event.session_id); row && *row) {
            ledger_.fill_owner(**row);
            ledger_.conversations.learn(**row);
        }
    }
    check(moment, scene(facts));
}

std::vector<Event> World::read_new_events() {
    std::vector<Event> events;
    for (;;) {
        const auto after = ledger_.head() + static_cast<Seq>(events.size());
        auto page =
            node_.reader().events({.after = after, .limit = 1000, .types = {}, .session_id = {}});
        if (!page || page->events.empty()) return events;
        std::ranges::move(page->events, std::back_inserter(events));
    }
}

void World::check_old_events() {
    Seq after = 0;
    while (after < ledger_.head()) {
        auto page =
            node_.reader().events({.after = after, .limit = 1000, .types = {}, .session_id = {}});
        if (!page) return;
        if (page->events.empty()) break;
        for (const auto& event : page->events) {
            if (event.seq > ledger_.head()) return;
            if (event == ledger_.log()[static_cast<std::size_t>(event.seq - 1)]) continue;
            broken_ = Broken{"acknowledged implies durable",
                             fmt::format("event {} is not what it was before", event.seq)};
            return;
        }
        after = page->events.back().seq;
    }
    if (after >= ledger_.head()) return;
    broken_ = Broken{"acknowledged implies durable",
                     fmt::format("the log ends at {}, it was at {}", after, ledger_.head())};
}

void World::trim() {
    const auto first = node_.write_step().first_seq();
    (void)node_.write_step().trim(retention_);
    for (auto seq = first; seq < node_.write_step().first_seq() && !broken_; ++seq) {
        if (seq <= ledger_.head() - retention_.keep_count) continue;
        const auto age = host_.elapsed() - told_at_.at(static_cast<std::size_t>(seq - 1));
        if (age >= retention_.keep_for) continue;
        broken_ = Broken{"no event is deleted before its time",
                         fmt::format("event {} is gone after {} s", seq, age / 1s)};
    }
}

}  // namespace knell::sim
