#include "deliver/subscriber.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "core/limits.hpp"
#include "deliver/backoff.hpp"

namespace knell {

namespace {

using std::chrono::milliseconds;

/// That many failures in a row mean that the receiver was away, not that events were bad: when it
/// is back, everything that waits is due.
constexpr int outage_streak = 10;

/// What a letter's time of the next attempt means after a restart.  The clock may have been set
/// meanwhile, so no further away than the longest delay there is.
milliseconds time_left(WallTime next_try_at, WallTime now) {
    constexpr milliseconds delay_max = std::chrono::hours{24};
    return std::clamp(std::chrono::duration_cast<milliseconds>(next_try_at - now), milliseconds{0},
                      delay_max);
}

}  // namespace

Subscriber::Subscriber(Subscription subscription, EventFilter filter, std::size_t concurrency)
    : filter_(filter),
      concurrency_(concurrency),
      row_(std::move(subscription)),
      read_to_(row_.cursor) {}

void Subscriber::set_terms(const EventFilter& filter, std::size_t concurrency) {
    filter_ = filter;
    concurrency_ = concurrency;
}

void Subscriber::restore(Letter letter, Now now) {
    const auto seq = letter.parcel.seq;
    if (seq > read_to_) restored_.insert(seq);
    if (letter.state == LetterState::dead) {
        dead_.insert(seq);
        return;
    }
    Item item{.parcel = std::make_shared<const Parcel>(std::move(letter.parcel)),
              .first = seq,
              .attempts = letter.attempts,
              .waited = letter.waited,
              .not_before = now.steady + time_left(letter.next_try_at, now.wall),
              .last_error = std::move(letter.last_error),
              .kept = true};
    ++kept_;
    add(std::move(item));
}

bool Subscriber::revive(Letter letter, Now now) {
    if (dead_.erase(letter.parcel.seq) == 0) return false;
    letter.state = LetterState::waiting;
    letter.attempts = 0;
    letter.waited = milliseconds{0};
    letter.next_try_at = now.wall;
    changes_.emplace_back(LetterSaved{letter});
    restore(std::move(letter), now);
    return true;
}

std::vector<Letter> Subscriber::letters(Now now) const {
    std::vector<Letter> letters;
    for (const auto& [name, lane] : lanes_) {
        for (const auto& item : lane) {
            if (item.kept) letters.push_back(letter_of(item, LetterState::waiting, now));
        }
    }
    for (const auto seq : dead_) {
        Letter letter{.subscriber = row_.name, .state = LetterState::dead};
        letter.parcel.seq = seq;
        letters.push_back(std::move(letter));
    }
    return letters;
}

// --- reading the log ----------------------------------------------------------------------------

bool Subscriber::has_room() const {
    return row_.state == SubscriberState::active && unkept_.size() < limits::delivery_window_max &&
           kept_ < limits::letters_waiting_max;
}

bool Subscriber::offer(const ParcelRef& parcel, Now now) {
    return offer(parcel, parcel->seq, now);
}

bool Subscriber::offer(const ParcelRef& parcel, Seq first, Now now) {
    if (!has_room()) return false;
    CHECK(parcel->seq > read_to_);
    if (is_restored(parcel->seq)) {
        passed(parcel->seq);
        return true;
    }
    read_to_ = parcel->seq;
    add({.parcel = parcel, .first = first, .not_before = now.steady, .last_error = {}});
    auto& lane = lanes_.at(parcel->session_id);
    // Behind one that waits to be tried again: it may take days, the cursor must not wait for it.
    if (lane.front().kept) {
        // Not always the last: letters that were restored may have a higher number.
        keep(*std::ranges::find(lane, parcel, &Item::parcel), now);
    } else {
        unkept_.insert(first);
    }
    update_cursor();
    return true;
}

void Subscriber::passed(Seq seq) {
    if (seq <= read_to_) return;
    read_to_ = seq;
    update_cursor();
}

void Subscriber::lose(const Gap& gap, const ParcelRef& parcel, Now now) {
    row_.lost += gap.to - gap.from + 1;
    row_changed_ = true;
    // The cursor waits before all of it until it is told.
    offer(parcel, gap.from, now);
}

/// Events that nobody wants move the cursor too: the log may let go of them, and what was passed is
/// not lost.
void Subscriber::update_cursor() {
    const auto cursor = unkept_.empty() ? read_to_ : *unkept_.begin() - 1;
    if (std::exchange(row_.cursor, cursor) != cursor) row_changed_ = true;
}

// --- lanes --------------------------------------------------------------------------------------

void Subscriber::add(Item&& item) {
    const auto name = item.parcel->session_id;
    auto& lane = lanes_[name];
    const auto place = std::ranges::upper_bound(
        lane, item.parcel->seq, {}, [](const Item& other) { return other.parcel->seq; });
    const bool under_way = !lane.empty() && tried_.contains(lane.front().parcel->seq);
    // What is under way stays first, whatever a person sends again meanwhile.
    if (place == lane.begin() && under_way) {
        lane.insert(lane.begin() + 1, std::move(item));
        return;
    }
    const bool first = place == lane.begin();
    if (first && !lane.empty()) {
        line_.erase({lane.front().not_before, lane.front().parcel->seq, name});
    }
    lane.insert(place, std::move(item));
    if (first) line_up(name);
}

void Subscriber::line_up(const std::string& name) {
    const auto lane = lanes_.find(name);
    if (lane->second.empty()) {
        lanes_.erase(lane);
        return;
    }
    const auto& first = lane->second.front();
    line_.emplace(first.not_before, first.parcel->seq, name);
}

Letter Subscriber::letter_of(const Item& item, LetterState state, Now now) const {
    const auto left = std::max(item.not_before - now.steady, std::chrono::nanoseconds{0});
    return {.subscriber = row_.name,
            .parcel = *item.parcel,
            .state = state,
            .attempts = item.attempts,
            .waited = item.waited,
            .next_try_at = now.wall + std::chrono::duration_cast<milliseconds>(left),
            .last_error = item.last_error};
}

void Subscriber::keep(Item& item, Now now) {
    changes_.emplace_back(LetterSaved{letter_of(item, LetterState::waiting, now)});
    if (std::exchange(item.kept, true)) return;
    ++kept_;
    unkept_.erase(item.first);
}

// --- trying -------------------------------------------------------------------------------------

ParcelRef Subscriber::next_attempt(Now now) {
    if (row_.state != SubscriberState::active || under_way_ >= concurrency_) return nullptr;
    if (line_.empty() || std::get<SteadyTime>(*line_.begin()) > now.steady) return nullptr;
    const auto [not_before, seq, lane] = *line_.begin();
    line_.erase(line_.begin());
    tried_.emplace(seq, lane);
    ++under_way_;
    return lanes_.at(lane).front().parcel;
}

std::optional<SteadyTime> Subscriber::next_try() const {
    if (row_.state != SubscriberState::active || under_way_ >= concurrency_ || line_.empty()) {
        return std::nullopt;
    }
    return std::get<SteadyTime>(*line_.begin());
}

bool Subscriber::finish(Seq seq, const Outcome& outcome, Now now) {
    const auto tried = tried_.find(seq);
    CHECK(tried != tried_.end());
    const auto name = tried->second;
    tried_.erase(tried);
    --under_way_;
    auto& lane = lanes_.at(name);
    row_changed_ = true;
    bool given_up = false;
    if (outcome.kind == Outcome::Kind::delivered) {
        if (lane.front().kept) {
            changes_.emplace_back(LetterDropped{row_.name, seq});
            --kept_;
        }
        unkept_.erase(lane.front().first);
        lane.pop_front();
        ++row_.delivered;
        row_.last_delivery_at = now.wall;
    } else {
        given_up = fail_item(lane, outcome, now);
    }
    // A session's next event was never tried: what delayed it was only the one before.
    if (!lane.empty() && lane.front().attempts == 0) lane.front().not_before = now.steady;
    line_up(name);
    update_cursor();
    const auto failures = outcome.kind == Outcome::Kind::delivered ? 0 : streak_ + 1;
    if (failures == 0 && streak_ >= outage_streak) hurry(now);
    streak_ = failures;
    return given_up;
}

bool Subscriber::fail_item(Lane& lane, const Outcome& outcome, Now now) {
    auto& item = lane.front();
    ++row_.failures;
    row_.last_failure_at = now.wall;
    row_.last_error = outcome.what;
    item.last_error = outcome.what;
    ++item.attempts;
    if (outcome.kind == Outcome::Kind::gone) row_.state = SubscriberState::disabled;
    if (item.waited >= give_up_after) {
        bury(std::move(item), now);
        lane.pop_front();
        return true;
    }
    auto delay = backoff(row_.name, item.parcel->seq, item.attempts);
    if (outcome.retry_after) delay = std::max(delay, milliseconds{*outcome.retry_after});
    item.waited += delay;
    item.not_before = now.steady + delay;
    keep(item, now);
    for (auto& behind : lane) {
        if (!behind.kept) keep(behind, now);
    }
    return false;
}

void Subscriber::bury(Item&& item, Now now) {
    if (item.kept) --kept_;
    unkept_.erase(item.first);
    changes_.emplace_back(LetterSaved{letter_of(item, LetterState::dead, now)});
    dead_.insert(item.parcel->seq);
    if (dead_.size() <= limits::letters_dead_max) return;
    changes_.emplace_back(LetterDropped{row_.name, *dead_.begin()});
    dead_.erase(dead_.begin());
    ++row_.lost;
}

// --- what a person may do -----------------------------------------------------------------------

void Subscriber::pause() {
    row_.state = SubscriberState::paused;
    row_changed_ = true;
}

void Subscriber::resume(Now now) {
    row_.state = SubscriberState::active;
    row_changed_ = true;
    hurry(now);
}

void Subscriber::hurry(Now now) {
    line_.clear();
    for (auto& [name, lane] : lanes_) {
        if (tried_.contains(lane.front().parcel->seq)) continue;
        lane.front().not_before = now.steady;
        line_.emplace(now.steady, lane.front().parcel->seq, name);
    }
}

std::vector<DeliveryChange> Subscriber::take_changes() {
    auto changes = std::exchange(changes_, {});
    if (row_changed_ || !changes.empty()) {
        changes.insert(changes.begin(), SubscriptionSaved{row_});
    }
    row_changed_ = false;
    return changes;
}

}  // namespace knell
