#include "delivery_loop.hpp"

#include <algorithm>
#include <utility>

namespace knell::sim {

namespace {

using namespace std::chrono_literals;

EventFilter filter(std::string_view events) {
    EventFilter filter;
    filter.add(events);
    return filter;
}

}  // namespace

DeliveryLoop::DeliveryLoop(Host& host, Ledger& ledger, Node& node, Watchers watchers)
    : host_(host), ledger_(ledger), node_(node), watchers_(std::move(watchers)) {
    const auto add = [this](std::string name, std::string_view events, std::string_view other,
                            std::size_t concurrency) {
        ledger_.hearings[name];
        receivers_.push_back({{std::move(name), filter(events), concurrency}, filter(other)});
    };
    add("all", "*", "session:*", 1);
    add("ends", "session:end", "session:start", 1);
    add("sessions", "session:*", "*", 3);
    add("turns", "agent:*", "session:end", 2);
}

void DeliveryLoop::start() {
    scheduler_ = std::make_unique<DeliveryScheduler>(node_.store().node_id(),
                                                     node_.write_step().head_at_start());
    // A save may have got on record although its answer was never heard.
    if (!scheduler_->recover(node_.reader()) || !read_record(/*at_start=*/true)) return crash();
    changed_at_ = scheduler_->head();
    read_files();
}

void DeliveryLoop::crash() {
    scheduler_.reset();
    saver_ = {};
    known_.clear();
    attempts_.clear();
    for (auto& [name, hearing] : ledger_.hearings) hearing.may_be_repeated();
}

// --- who is there -------------------------------------------------------------------------------

void DeliveryLoop::read_files() {
    std::vector<SubscriberSpec> subscriber_config;
    for (const auto& receiver : receivers_) {
        if (!receiver.present) continue;
        const auto& name = receiver.spec.name;
        subscriber_config.push_back(receiver.spec);
        auto& hearing = ledger_.hearings.at(name);
        const auto before = state(name);
        if (known_.insert(name).second && !hearing.place.has_row) {
            hearing.has_come = true;
            hearing.since = std::max(changed_at_, hearing.forgotten_at);
            hearing.wishes.clear();
        }
        hearing.wish(ledger_.head(), receiver.spec.events);
        if (before == HookState::unknown || before == HookState::absent) {
            watchers_.happened(HookHappening::comes, before);
        }
    }
    for (const auto dropped :
         scheduler_->set_subscribers(subscriber_config, host_.now(), changed_at_)) {
        std::erase_if(attempts_, [&](const Attempt& attempt) { return attempt.id == dropped; });
    }
}

void DeliveryLoop::set_present(std::size_t i, bool present, bool is_noticed) {
    if (std::exchange(receivers_[i].present, present) == present || !scheduler_) return;
    if (!present) {
        watchers_.happened(HookHappening::goes, state(name(i)));
        ledger_.hearings.at(name(i)).may_be_repeated();
    }
    if (is_noticed) changed_at_ = scheduler_->head();
    read_files();
}

void DeliveryLoop::change(std::size_t i) {
    auto& receiver = receivers_[i];
    std::swap(receiver.spec.events, receiver.other_events);
    receiver.spec.concurrency = receiver.spec.concurrency % 3 + 1;
    if (!scheduler_ || !receiver.present) return;
    watchers_.happened(HookHappening::changes, state(name(i)));
    changed_at_ = scheduler_->head();
    read_files();
}

// --- what a person may do -----------------------------------------------------------------------

void DeliveryLoop::pause(std::size_t i) {
    const auto before = state(name(i));
    if (scheduler_->pause(name(i))) watchers_.happened(HookHappening::paused, before);
}

void DeliveryLoop::resume(std::size_t i) {
    const auto before = state(name(i));
    if (scheduler_->resume(name(i), host_.now()))
        watchers_.happened(HookHappening::resumed, before);
}

void DeliveryLoop::retry(std::size_t i) {
    if (!scheduler_->knows(name(i))) return;
    watchers_.happened(HookHappening::sent_again, state(name(i)));
    (void)scheduler_->retry(name(i), node_.reader(), host_.now());
}

Asked DeliveryLoop::forget(std::size_t i) {
    Asked asked{.name = name(i), .is_there = receivers_[i].present};
    auto& hearing = ledger_.hearings.at(asked.name);
    asked.is_known = hearing.place.has_row || known_.contains(asked.name);
    scheduler_->set_head(ledger_.head());
    watchers_.happened(HookHappening::forgotten, state(asked.name));
    asked.before = scheduler_->report(host_.now());
    asked.answer = scheduler_->forget(asked.name);
    asked.after = scheduler_->report(host_.now());
    if (asked.answer != DeliveryScheduler::Forgetting::forgotten) return asked;
    known_.erase(asked.name);
    ledger_.forgotten[asked.name].push_back({.former = std::move(hearing)});
    hearing = {};
    hearing.forgotten_at = ledger_.head();
    return asked;
}

HookState DeliveryLoop::state(const std::string& name) const {
    for (const auto& report : scheduler_->report(host_.now())) {
        if (report.subscription.name != name) continue;
        if (report.absent) return HookState::absent;
        if (report.subscription.state == SubscriberState::paused) return HookState::paused;
        if (report.subscription.state == SubscriberState::disabled) return HookState::disabled;
        return report.failing ? HookState::failing : HookState::active;
    }
    return HookState::unknown;
}

// --- attempts -----------------------------------------------------------------------------------

void DeliveryLoop::step() {
    scheduler_->set_head(ledger_.head());
    finish_due();
    for (int rounds = 0; rounds < 1000; ++rounds) {
        if (scheduler_->is_behind() && !scheduler_->read(node_.reader(), host_.now())) break;
        const auto due = scheduler_->due(host_.now());
        if (due.empty()) break;
        for (const auto& attempt : due) begin(attempt);
        finish_due();
    }
    scheduler_->take_notices();
}

void DeliveryLoop::begin(const DeliveryScheduler::Attempt& attempt) {
    const auto receiver = std::ranges::find_if(
        receivers_, [&](const Receiver& r) { return r.spec.name == attempt.subscriber; });
    Attempt begun{attempt.id, attempt.subscriber, attempt.rendered, host_.elapsed(), {}};
    auto mood = receiver->mood;
    if (mood == Mood::fickle) mood = static_cast<Mood>(attempt.id % (mood_names.size() - 1));
    switch (mood) {
        case Mood::good:
        case Mood::fickle:
            begun.outcome.kind = Outcome::Kind::delivered;
            break;
        case Mood::slow:
            begun.outcome.kind = Outcome::Kind::delivered;
            begun.due += 5s;
            break;
        case Mood::failing:
            begun.outcome.what = "exit 1";
            break;
        case Mood::mute:
            begun.outcome.what = "timed out";
            begun.due += 15s;
            break;
        case Mood::gone:
            begun.outcome = {.kind = Outcome::Kind::gone, .what = "HTTP 410"};
            begun.due += 1s;
            break;
    }
    const bool takes_it = mood != Mood::failing && mood != Mood::gone;
    if (takes_it) hear(attempt.subscriber, *attempt.rendered);
    attempts_.push_back(std::move(begun));
}

void DeliveryLoop::hear(const std::string& name, const RenderedEvent& rendered) {
    auto& hearing = ledger_.hearings.at(name);
    watchers_.hear(name, hearing, rendered);
    if (rendered.type == "gap") {
        hearing.gaps.push_back(gap_in(rendered));
    } else {
        hearing.deliveries.try_emplace(rendered.seq);
    }
}

void DeliveryLoop::finish_due() {
    std::vector<Attempt> due;
    std::erase_if(attempts_, [&](Attempt& attempt) {
        if (attempt.due > host_.elapsed()) return false;
        due.push_back(std::move(attempt));
        return true;
    });
    for (const auto& attempt : due) finish(attempt);
}

void DeliveryLoop::finish(const Attempt& attempt) {
    const auto& name = attempt.subscriber;
    auto& hearing = ledger_.hearings.at(name);
    const bool is_delivered = attempt.outcome.kind == Outcome::Kind::delivered;
    if (is_delivered && attempt.rendered->type != "gap") {
        hearing.deliveries[attempt.rendered->seq] = {.delivered = true, .may_repeat = false};
    }
    watchers_.happened(is_delivered                                    ? HookHappening::takes_it
                       : attempt.outcome.kind == Outcome::Kind::failed ? HookHappening::fails
                                                                       : HookHappening::ends_it,
                       state(name));
    const auto before = is_delivered ? 0 : given_up(name);
    scheduler_->finish(attempt.id, attempt.outcome, host_.now());
    // It may be followed by the next of its session.
    if (!is_delivered && given_up(name) != before) hearing.dead.insert(attempt.rendered->seq);
}

std::int64_t DeliveryLoop::given_up(const std::string& name) const {
    for (const auto& report : scheduler_->report(host_.now())) {
        if (report.subscription.name != name) continue;
        return report.subscription.lost + static_cast<std::int64_t>(report.dead);
    }
    return 0;
}

}  // namespace knell::sim
