#include "deliver/delivery_scheduler.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "core/limits.hpp"
#include "wire/session_json.hpp"

namespace knell {

namespace {

constexpr std::size_t page_events = 500;
constexpr std::size_t letters_page = 1000;

}  // namespace

// --- who is there -------------------------------------------------------------------------------

Result<void> DeliveryScheduler::recover(Reader& reader) {
    auto subscriptions = reader.subscriptions();
    if (!subscriptions) return std::unexpected(subscriptions.error());
    for (auto& subscription : *subscriptions) {
        auto& absent = absent_[subscription.name];
        PendingQuery query{
            .subscriber = subscription.name, .state = {}, .after = 0, .limit = letters_page};
        absent.subscription = std::move(subscription);
        for (;;) {
            auto letters = reader.letters(query);
            if (!letters) return std::unexpected(letters.error());
            if (letters->empty()) break;
            query.after = letters->back().rendered.seq;
            std::ranges::move(*letters, std::back_inserter(absent.letters));
        }
        // Only that there are dead letters is kept in memory.
        for (auto& letter : absent.letters) {
            if (letter.state == PendingState::dead) letter.rendered.json = {};
        }
    }
    return {};
}

DeliveryScheduler::Member DeliveryScheduler::make_member(const SubscriberSpec& spec, Seq from,
                                                         Now now) {
    Absent known;
    if (auto absent = absent_.extract(spec.name)) {
        known = std::move(absent.mapped());
    } else {
        known.subscription.name = spec.name;
        known.subscription.cursor = from;
        // Its file may have been there all the time, and only could not be used.
        if (const auto forgotten = forgotten_.extract(spec.name)) {
            known.subscription.cursor = std::max(from, forgotten.mapped());
        }
        known.subscription.since = now.wall;
        changes_.emplace_back(SubscriptionSaved{known.subscription});
    }
    Member member{
        Subscriber(std::move(known.subscription), spec.events, spec.concurrency, spec.retries)};
    for (auto& letter : known.letters) member.subscriber.restore(std::move(letter), now);
    return member;
}

void DeliveryScheduler::put_away(const std::string& name, Member& member, Now now) {
    std::ranges::move(member.subscriber.take_changes(), std::back_inserter(changes_));
    absent_[name] = {member.subscriber.subscription(), member.subscriber.letters(now)};
}

std::vector<AttemptId> DeliveryScheduler::set_subscribers(const std::vector<SubscriberSpec>& specs,
                                                          Now now, std::optional<Seq> from) {
    std::set<std::string> present;
    EventFilter wanted;
    for (const auto& spec : specs) {
        present.insert(spec.name);
        for (const auto type : spec.events.types()) wanted.add(name_in(event_type_names, type));
        if (const auto member = members_.find(spec.name); member != members_.end()) {
            member->second.subscriber.set_spec(spec.events, spec.concurrency, spec.retries);
        } else {
            members_.emplace(spec.name, make_member(spec, from.value_or(head_), now));
        }
    }
    wanted_ = wanted.types();
    page_.reset();
    for (auto member = members_.begin(); member != members_.end();) {
        const auto here = member++;
        if (present.contains(here->first)) continue;
        put_away(here->first, here->second, now);
        members_.erase(here);
    }
    std::vector<AttemptId> dropped;
    std::erase_if(under_way_, [&](const auto& attempt) {
        if (members_.contains(attempt.second.subscriber)) return false;
        dropped.push_back(attempt.first);
        return true;
    });
    return dropped;
}

bool DeliveryScheduler::knows(const std::string& name) const {
    return members_.contains(name);
}

std::string_view DeliveryScheduler::state_of(const std::string& name) const {
    return name_in(subscriber_state_names, members_.at(name).subscriber.subscription().state);
}

int DeliveryScheduler::failing_streak(const std::string& name) const {
    const auto member = members_.find(name);
    return member == members_.end() ? 0 : member->second.subscriber.failing_streak();
}

// --- reading ------------------------------------------------------------------------------------

RenderedEventRef DeliveryScheduler::render_event(const Event& event) const {
    return std::make_shared<const RenderedEvent>(
        RenderedEvent{.seq = event.seq,
                      .id = event_id(event, node_id_),
                      .type = std::string(name_in(event_type_names, event.type)),
                      .time = format_rfc3339(event.time),
                      .session_id = event.session_id.text(),
                      .json = wire::to_text(wire::to_json(event, node_id_))});
}

RenderedEventRef DeliveryScheduler::render_gap(const Gap& gap, Now now) const {
    RenderedEvent rendered{.seq = gap.to,
                           .id = fmt::format("{}_gap_{}_{}", node_id_, gap.from, gap.to),
                           .type = "gap",
                           .time = format_rfc3339(now.wall),
                           .session_id = {},
                           .json = {}};
    rendered.json = wire::to_text(JsonObject{{"seq", gap.to},
                                             {"id", rendered.id},
                                             {"type", rendered.type},
                                             {"time", rendered.time},
                                             {"from", gap.from},
                                             {"to", gap.to}});
    return std::make_shared<const RenderedEvent>(std::move(rendered));
}

Result<const DeliveryScheduler::Page*> DeliveryScheduler::page_after(Seq after, Reader& reader) {
    if (page_ && page_->after <= after && after < page_->next) return &*page_;
    const auto read =
        reader.events({.after = after, .limit = page_events, .types = wanted_, .session_id = {}});
    if (!read) return std::unexpected(read.error());
    page_.emplace(after, read->next, read->gap);
    for (const auto& event : read->events) page_->told.push_back({event.type, render_event(event)});
    return &*page_;
}

void DeliveryScheduler::hand_out(Member& member, const Page& page, Now now) {
    auto& subscriber = member.subscriber;
    if (page.gap && subscriber.read_to() < page.gap->to) {
        Gap gap{std::max(page.gap->from, subscriber.read_to() + 1), page.gap->to};
        // What it has as a letter is not lost, and a gap bears the number of its last event.
        while (gap.from <= gap.to && subscriber.is_restored(gap.to)) --gap.to;
        if (gap.from <= gap.to) {
            subscriber.lose(gap, render_gap(gap, now), now);
            give_notice(member, fmt::format("events {} to {} were no longer kept when it came to "
                                            "read them",
                                            gap.from, gap.to));
        }
        subscriber.passed(page.gap->to);
    }
    for (const auto& told : page.told) {
        if (told.rendered->seq <= subscriber.read_to()) continue;
        if (!subscriber.filter().wants(told.type)) continue;
        if (!subscriber.offer(told.rendered, now)) return;
    }
    subscriber.passed(page.next);
}

Result<void> DeliveryScheduler::read(Reader& reader, Now now) {
    for (auto& [name, member] : members_) {
        const auto& subscriber = member.subscriber;
        if (subscriber.read_to() >= head_ || !subscriber.has_room()) continue;
        const auto page = page_after(subscriber.read_to(), reader);
        if (!page) return std::unexpected(page.error());
        hand_out(member, **page, now);
    }
    return {};
}

bool DeliveryScheduler::is_behind() const {
    return std::ranges::any_of(members_, [this](const auto& member) {
        const auto& subscriber = member.second.subscriber;
        return subscriber.read_to() < head_ && subscriber.has_room();
    });
}

// --- trying -------------------------------------------------------------------------------------

std::vector<DeliveryScheduler::Attempt> DeliveryScheduler::due(Now now) {
    std::vector<Attempt> attempts;
    for (auto& [name, member] : members_) {
        while (auto rendered = member.subscriber.next_attempt(now)) {
            const auto id = ++last_attempt_;
            under_way_.emplace(id, UnderWay{name, rendered->seq});
            attempts.push_back({id, name, std::move(rendered)});
        }
    }
    return attempts;
}

std::optional<SteadyTime> DeliveryScheduler::next_try() const {
    std::optional<SteadyTime> next;
    for (const auto& [name, member] : members_) {
        const auto one = member.subscriber.next_try();
        if (one && (!next || *one < *next)) next = one;
    }
    return next;
}

void DeliveryScheduler::finish(AttemptId attempt, const Outcome& outcome, Now now) {
    const auto found = under_way_.find(attempt);
    if (found == under_way_.end()) return;  // its subscriber was removed meanwhile
    const auto [name, seq] = found->second;
    under_way_.erase(found);
    auto& member = members_.at(name);
    const bool given_up = member.subscriber.finish(seq, outcome, now);
    if (outcome.kind == Outcome::Kind::delivered) member.noticed = false;
    if (outcome.kind == Outcome::Kind::gone) {
        give_notice(member, fmt::format("its receiver says that it is gone for good ({}); nothing "
                                        "more is sent until `knell hooks resume {}`",
                                        outcome.what, name));
    } else if (given_up) {
        give_notice(member, fmt::format("event {} was given up after {} ({}); `knell hooks "
                                        "retry {}` sends it again",
                                        seq, member.subscriber.patience(), outcome.what, name));
    }
}

void DeliveryScheduler::give_notice(Member& member, std::string what) {
    if (std::exchange(member.noticed, true)) return;
    notices_.push_back(
        fmt::format("subscriber {}: {}", member.subscriber.subscription().name, what));
}

// --- what a person may do -----------------------------------------------------------------------

bool DeliveryScheduler::pause(const std::string& name) {
    const auto member = members_.find(name);
    if (member == members_.end()) return false;
    member->second.subscriber.pause();
    return true;
}

bool DeliveryScheduler::resume(const std::string& name, Now now) {
    const auto member = members_.find(name);
    if (member == members_.end()) return false;
    member->second.subscriber.resume(now);
    member->second.noticed = false;
    return true;
}

DeliveryScheduler::Forgetting DeliveryScheduler::forget(const std::string& name) {
    if (members_.contains(name)) return Forgetting::still_there;
    if (absent_.erase(name) == 0) return Forgetting::unknown;
    forgotten_[name] = head_;
    changes_.emplace_back(SubscriptionForgotten{name});
    return Forgetting::forgotten;
}

Result<std::size_t> DeliveryScheduler::retry(const std::string& name, Reader& reader, Now now) {
    auto& member = members_.at(name);
    auto& subscriber = member.subscriber;
    PendingQuery query{
        .subscriber = name, .state = PendingState::dead, .after = 0, .limit = letters_page};
    while (subscriber.dead() > 0 && subscriber.waiting() < limits::letters_waiting_max) {
        auto letters = reader.letters(query);
        if (!letters) return std::unexpected(letters.error());
        if (letters->empty()) break;
        query.after = letters->back().rendered.seq;
        for (auto& letter : *letters) subscriber.revive(std::move(letter), now);
    }
    const auto due = subscriber.waiting();
    subscriber.retry_now(now);
    member.noticed = false;
    return due;
}

// --- what is to be known and saved --------------------------------------------------------------

std::vector<SubscriberReport> DeliveryScheduler::report(Now now) const {
    std::vector<SubscriberReport> reports;
    for (const auto& [name, member] : members_) {
        const auto& subscriber = member.subscriber;
        SubscriberReport report{.subscription = subscriber.subscription(),
                                .failing = subscriber.failing_streak() > 0,
                                .lag = head_ - subscriber.subscription().cursor,
                                .waiting = subscriber.waiting(),
                                .dead = subscriber.dead(),
                                .under_way = subscriber.under_way(),
                                .next_try_in = {}};
        if (const auto next = subscriber.next_try()) {
            report.next_try_in = std::chrono::duration_cast<std::chrono::milliseconds>(
                std::max(*next - now.steady, std::chrono::nanoseconds{0}));
        }
        reports.push_back(std::move(report));
    }
    for (const auto& [name, absent] : absent_) {
        const auto dead = static_cast<std::size_t>(
            std::ranges::count(absent.letters, PendingState::dead,
                               [](const PendingDelivery& letter) { return letter.state; }));
        reports.push_back({.subscription = absent.subscription,
                           .absent = true,
                           .lag = head_ - absent.subscription.cursor,
                           .waiting = absent.letters.size() - dead,
                           .dead = dead,
                           .next_try_in = {}});
    }
    return reports;
}

bool DeliveryScheduler::has_changes() const {
    return !changes_.empty() || std::ranges::any_of(members_, [](const auto& member) {
        return member.second.subscriber.has_changes();
    });
}

bool DeliveryScheduler::has_urgent_changes() const {
    return !changes_.empty() || std::ranges::any_of(members_, [](const auto& member) {
        return member.second.subscriber.has_letters();
    });
}

std::vector<DeliveryChange> DeliveryScheduler::take_changes() {
    auto changes = std::exchange(changes_, {});
    for (auto& [name, member] : members_) {
        std::ranges::move(member.subscriber.take_changes(), std::back_inserter(changes));
    }
    return changes;
}

void DeliveryScheduler::check_invariants() const {
    std::size_t under_way = 0;
    for (const auto& [name, member] : members_) {
        member.subscriber.check_invariants();
        CHECK(member.subscriber.subscription().name == name);
        CHECK(!absent_.contains(name) && !forgotten_.contains(name));
        under_way += member.subscriber.under_way();
    }
    for (const auto& [name, absent] : absent_) {
        CHECK(absent.subscription.name == name);
        CHECK(!forgotten_.contains(name));
    }
    CHECK(under_way == under_way_.size());
    for (const auto& [id, attempt] : under_way_) {
        CHECK(id <= last_attempt_);
        CHECK(members_.contains(attempt.subscriber));
    }
}

}  // namespace knell
