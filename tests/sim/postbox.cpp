#include "postbox.hpp"

#include <algorithm>
#include <iterator>

#include "wire/json.hpp"

namespace knell::sim {

namespace {

using namespace std::chrono_literals;

constexpr auto save_period = 250ms;
constexpr std::size_t letters_max = 10'000;

Terms terms(std::string name, std::string_view events, std::size_t concurrency) {
    Terms terms{.name = std::move(name), .events = {}, .concurrency = concurrency};
    terms.events.add(events);
    return terms;
}

Gap gap_in(const Parcel& parcel) {
    const auto json = wire::parse_json(parcel.json);
    return {wire::int_at(json->as_object(), "from"), wire::int_at(json->as_object(), "to")};
}

}  // namespace

Postbox::Postbox(Host& host, Ledger& ledger, Node& node, Watchers watchers)
    : host_(host), ledger_(ledger), node_(node), watchers_(std::move(watchers)) {
    receivers_.push_back({terms("all", "*", 1)});
    receivers_.push_back({terms("ends", "session:end", 1)});
    receivers_.push_back({terms("sessions", "session:*", 3)});
    receivers_.push_back({terms("turns", "agent:*", 2)});
    for (const auto& receiver : receivers_) {
        ledger_.hearings[receiver.terms.name].filter = receiver.terms.events;
    }
}

void Postbox::start() {
    courier_ = std::make_unique<Courier>(node_.store().node_id(), node_.desk().head_at_start());
    if (!courier_->recover(node_.reader())) return crash();
    // A save may have got on record although its answer was never heard.
    read_record();
    set_roster();
}

void Postbox::crash() {
    courier_.reset();
    known_.clear();
    attempts_.clear();
    unsaved_.clear();
    saving_copy_.clear();
    saving_ = false;
    for (auto& [name, hearing] : ledger_.hearings) may_repeat(hearing);
}

void Postbox::may_repeat(Hearing& hearing) {
    for (auto& [seq, ear] : hearing.ears) {
        if (seq > hearing.cursor || hearing.has_letter(seq)) ear.may_repeat = true;
    }
}

void Postbox::set_roster() {
    std::vector<Terms> roster;
    for (const auto& receiver : receivers_) {
        if (!receiver.present) continue;
        roster.push_back(receiver.terms);
        auto& hearing = ledger_.hearings.at(receiver.terms.name);
        if (!hearing.is_on_record && known_.insert(receiver.terms.name).second) {
            hearing.since = courier_->head();
        }
    }
    for (const auto dropped : courier_->set_roster(roster, host_.now())) {
        std::erase_if(attempts_, [&](const Attempt& attempt) { return attempt.id == dropped; });
    }
    keep_changes();
}

void Postbox::set_present(std::size_t i, bool present) {
    if (std::exchange(receivers_[i].present, present) == present || !courier_) return;
    if (!present) may_repeat(ledger_.hearings.at(name(i)));
    set_roster();
}

void Postbox::retry(std::size_t i) {
    if (courier_->knows(name(i))) (void)courier_->retry(name(i), node_.reader(), host_.now());
}

// --- attempts -----------------------------------------------------------------------------------

void Postbox::step() {
    courier_->set_head(ledger_.head());
    finish_due();
    for (int rounds = 0; rounds < 1000; ++rounds) {
        if (courier_->is_behind() && !courier_->read(node_.reader(), host_.now())) break;
        const auto due = courier_->due(host_.now());
        if (due.empty()) break;
        for (const auto& attempt : due) begin(attempt);
        finish_due();
    }
    courier_->take_notices();
    keep_changes();
}

void Postbox::begin(const Courier::Attempt& attempt) {
    const auto receiver = std::ranges::find_if(
        receivers_, [&](const Receiver& r) { return r.terms.name == attempt.subscriber; });
    Attempt begun{attempt.id, attempt.subscriber, attempt.parcel, host_.elapsed(), {}};
    switch (receiver->mood) {
        case Mood::good:
            begun.outcome.kind = Outcome::Kind::delivered;
            break;
        case Mood::slow:
            begun.outcome.kind = Outcome::Kind::delivered;
            begun.due += 3s;
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
            break;
    }
    const bool takes_it = receiver->mood != Mood::failing && receiver->mood != Mood::gone;
    if (takes_it) hear(attempt.subscriber, *attempt.parcel);
    attempts_.push_back(std::move(begun));
}

void Postbox::hear(const std::string& name, const Parcel& parcel) {
    auto& hearing = ledger_.hearings.at(name);
    watchers_.hear(name, hearing, parcel);
    if (parcel.type == "gap") {
        hearing.gaps.push_back(gap_in(parcel));
    } else {
        hearing.ears.try_emplace(parcel.seq);
    }
}

void Postbox::finish_due() {
    std::vector<Attempt> due;
    std::erase_if(attempts_, [&](Attempt& attempt) {
        if (attempt.due > host_.elapsed()) return false;
        due.push_back(std::move(attempt));
        return true;
    });
    for (auto& attempt : due) {
        auto& hearing = ledger_.hearings.at(attempt.subscriber);
        if (attempt.outcome.kind == Outcome::Kind::delivered && attempt.parcel->type != "gap") {
            hearing.ears[attempt.parcel->seq] = {.delivered = true, .may_repeat = false};
        }
        courier_->finish(attempt.id, attempt.outcome, host_.now());
        // At once: what is given up may be followed by the next of its session.
        keep_changes();
    }
}

// --- what is on record --------------------------------------------------------------------------

void Postbox::keep_changes() {
    for (auto& change : courier_->take_changes()) {
        const auto* letter = std::get_if<LetterSaved>(&change);
        if (letter != nullptr && letter->letter.state == LetterState::dead) {
            ledger_.hearings.at(letter->letter.subscriber).dead.insert(letter->letter.parcel.seq);
        }
        unsaved_.push_back(std::move(change));
    }
}

std::optional<SaveDeliveries> Postbox::take_save(bool at_once) {
    if (saving_ || unsaved_.empty()) return std::nullopt;
    if (!at_once && host_.elapsed() - saved_at_ < save_period) return std::nullopt;
    saving_ = true;
    saved_at_ = host_.elapsed();
    saving_copy_ = std::exchange(unsaved_, {});
    return SaveDeliveries{saving_copy_};
}

void Postbox::finish_save(bool ok) {
    saving_ = false;
    auto copy = std::exchange(saving_copy_, {});
    if (ok) return read_record();
    std::ranges::move(unsaved_, std::back_inserter(copy));
    unsaved_ = std::move(copy);
}

void Postbox::read_record() {
    const auto subscriptions = node_.reader().subscriptions();
    if (!subscriptions) return;
    for (const auto& subscription : *subscriptions) {
        auto& hearing = ledger_.hearings.at(subscription.name);
        hearing.is_on_record = true;
        hearing.cursor = subscription.cursor;
        hearing.letters.clear();
        hearing.gap_letters.clear();
        const auto letters = node_.reader().letters(
            {.subscriber = subscription.name, .state = {}, .after = 0, .limit = letters_max});
        if (!letters) return;
        for (const auto& letter : *letters) {
            if (letter.parcel.type == "gap") {
                hearing.gap_letters.push_back(gap_in(letter.parcel));
            } else {
                hearing.letters.insert(letter.parcel.seq);
            }
        }
        watchers_.saved(subscription.name, hearing);
        hearing.checked_to = hearing.cursor;
    }
}

}  // namespace knell::sim
