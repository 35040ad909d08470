#include "deliver/subscriber.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

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

Subscriber::Subscriber(Subscription subscription, EventFilter filter, std::size_t concurrency,
                       std::optional<int> retries)
    : filter_(filter),
      concurrency_(concurrency),
      retries_(retries),
      row_(std::move(subscription)),
      read_to_(row_.cursor) {}

void Subscriber::set_spec(const EventFilter& filter, std::size_t concurrency,
                          std::optional<int> retries) {
    filter_ = filter;
    concurrency_ = concurrency;
    retries_ = retries;
}

void Subscriber::restore(PendingDelivery letter, Now now) {
    const auto seq = letter.rendered.seq;
    if (seq > read_to_) restored_.insert(seq);
    if (letter.state == PendingState::dead) {
        dead_.insert(seq);
        return;
    }
    Item item{.rendered = std::make_shared<const RenderedEvent>(std::move(letter.rendered)),
              .first = seq,
              .attempts = letter.attempts,
              .waited = letter.waited,
              .not_before = now.steady + time_left(letter.next_try_at, now.wall),
              .last_error = std::move(letter.last_error),
              .kept = true};
    ++kept_;
    add(std::move(item));
}

bool Subscriber::revive(PendingDelivery letter, Now now) {
    if (dead_.erase(letter.rendered.seq) == 0) return false;
    letter.state = PendingState::waiting;
    letter.attempts = 0;
    letter.waited = milliseconds{0};
    letter.next_try_at = now.wall;
    changes_.emplace_back(PendingSaved{letter});
    restore(std::move(letter), now);
    return true;
}

std::vector<PendingDelivery> Subscriber::letters(Now now) const {
    std::vector<PendingDelivery> letters;
    for (const auto& [name, queue] : by_session_) {
        for (const auto& item : queue) {
            if (item.kept) letters.push_back(letter_of(item, PendingState::waiting, now));
        }
    }
    for (const auto seq : dead_) {
        PendingDelivery letter{.subscriber = row_.name, .state = PendingState::dead};
        letter.rendered.seq = seq;
        letters.push_back(std::move(letter));
    }
    return letters;
}

// --- reading the log ----------------------------------------------------------------------------

bool Subscriber::has_room() const {
    return row_.state == SubscriberState::active && unkept_.size() < limits::delivery_window_max &&
           kept_ < limits::letters_waiting_max;
}

bool Subscriber::offer(const RenderedEventRef& rendered, Now now) {
    return offer(rendered, rendered->seq, now);
}

bool Subscriber::offer(const RenderedEventRef& rendered, Seq first, Now now) {
    if (!has_room()) return false;
    CHECK(rendered->seq > read_to_);
    if (is_restored(rendered->seq)) {
        passed(rendered->seq);
        return true;
    }
    read_to_ = rendered->seq;
    add({.rendered = rendered, .first = first, .not_before = now.steady, .last_error = {}});
    auto& queue = by_session_.at(rendered->session_id);
    // Behind one that waits to be tried again: it may take days, the cursor must not wait for it.
    if (queue.front().kept) {
        // Not always the last: letters that were restored may have a higher number.
        keep(*std::ranges::find(queue, rendered, &Item::rendered), now);
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

void Subscriber::lose(const Gap& gap, const RenderedEventRef& rendered, Now now) {
    row_.lost += gap.to - gap.from + 1;
    row_changed_ = true;
    // The cursor waits before all of it until it is told.
    offer(rendered, gap.from, now);
}

/// Events that nobody wants move the cursor too: the log may delete them, and what was passed is
/// not lost.
void Subscriber::update_cursor() {
    const auto cursor = unkept_.empty() ? read_to_ : *unkept_.begin() - 1;
    if (std::exchange(row_.cursor, cursor) != cursor) row_changed_ = true;
}

// --- queues -------------------------------------------------------------------------------------

void Subscriber::add(Item&& item) {
    const auto name = item.rendered->session_id;
    auto& queue = by_session_[name];
    const auto place = std::ranges::upper_bound(
        queue, item.rendered->seq, {}, [](const Item& other) { return other.rendered->seq; });
    const bool under_way = !queue.empty() && tried_.contains(queue.front().rendered->seq);
    // What is under way stays first, whatever a person sends again meanwhile.
    if (place == queue.begin() && under_way) {
        queue.insert(queue.begin() + 1, std::move(item));
        return;
    }
    const bool first = place == queue.begin();
    if (first && !queue.empty()) {
        ready_.erase({queue.front().not_before, queue.front().rendered->seq, name});
    }
    queue.insert(place, std::move(item));
    if (first) make_ready(name);
}

void Subscriber::make_ready(const std::string& name) {
    const auto queue = by_session_.find(name);
    if (queue->second.empty()) {
        by_session_.erase(queue);
        return;
    }
    const auto& first = queue->second.front();
    ready_.emplace(first.not_before, first.rendered->seq, name);
}

PendingDelivery Subscriber::letter_of(const Item& item, PendingState state, Now now) const {
    const auto left = std::max(item.not_before - now.steady, std::chrono::nanoseconds{0});
    return {.subscriber = row_.name,
            .rendered = *item.rendered,
            .state = state,
            .attempts = item.attempts,
            .waited = item.waited,
            .next_try_at = now.wall + std::chrono::duration_cast<milliseconds>(left),
            .last_error = item.last_error};
}

void Subscriber::keep(Item& item, Now now) {
    changes_.emplace_back(PendingSaved{letter_of(item, PendingState::waiting, now)});
    if (std::exchange(item.kept, true)) return;
    ++kept_;
    unkept_.erase(item.first);
}

// --- trying -------------------------------------------------------------------------------------

RenderedEventRef Subscriber::next_attempt(Now now) {
    if (row_.state != SubscriberState::active || under_way() >= concurrency_) return nullptr;
    if (ready_.empty() || std::get<SteadyTime>(*ready_.begin()) > now.steady) return nullptr;
    const auto [not_before, seq, queue] = *ready_.begin();
    ready_.erase(ready_.begin());
    tried_.emplace(seq, queue);
    return by_session_.at(queue).front().rendered;
}

std::optional<SteadyTime> Subscriber::next_try() const {
    if (row_.state != SubscriberState::active || under_way() >= concurrency_ || ready_.empty()) {
        return std::nullopt;
    }
    return std::get<SteadyTime>(*ready_.begin());
}

bool Subscriber::finish(Seq seq, const Outcome& outcome, Now now) {
    const auto tried = tried_.find(seq);
    CHECK(tried != tried_.end());
    const auto name = tried->second;
    tried_.erase(tried);
    auto& queue = by_session_.at(name);
    row_changed_ = true;
    bool given_up = false;
    if (outcome.kind == Outcome::Kind::delivered) {
        if (queue.front().kept) {
            changes_.emplace_back(PendingDropped{row_.name, seq});
            --kept_;
        } else {
            unkept_.erase(queue.front().first);
        }
        queue.pop_front();
        ++row_.delivered;
        row_.last_delivery_at = now.wall;
    } else {
        given_up = fail_item(queue, outcome, now);
    }
    // A session's next event was never tried: what delayed it was only the one before.  It keeps
    // its place among those of other sessions: the end of one comes before the start of the next.
    if (!queue.empty() && queue.front().attempts == 0) {
        queue.front().not_before = std::min(queue.front().not_before, now.steady);
    }
    make_ready(name);
    update_cursor();
    const auto failures = outcome.kind == Outcome::Kind::delivered ? 0 : streak_ + 1;
    if (failures == 0 && streak_ >= outage_streak) retry_now(now);
    streak_ = failures;
    return given_up;
}

bool Subscriber::fail_item(SessionQueue& queue, const Outcome& outcome, Now now) {
    auto& item = queue.front();
    ++row_.failures;
    row_.last_failure_at = now.wall;
    row_.last_error = outcome.what;
    item.last_error = outcome.what;
    ++item.attempts;
    if (outcome.kind == Outcome::Kind::gone) row_.state = SubscriberState::disabled;
    if (item.waited >= give_up_after || (retries_ && item.attempts > *retries_)) {
        give_up(std::move(item), now);
        queue.pop_front();
        return true;
    }
    auto delay = backoff(row_.name, item.rendered->seq, item.attempts);
    if (outcome.retry_after) delay = std::max(delay, milliseconds{*outcome.retry_after});
    item.waited += delay;
    item.not_before = now.steady + delay;
    keep(item, now);
    for (auto& behind : queue) {
        if (!behind.kept) keep(behind, now);
    }
    return false;
}

std::string Subscriber::patience() const {
    if (!retries_) return "three days";
    return *retries_ == 0 ? "1 attempt" : fmt::format("{} attempts", *retries_ + 1);
}

void Subscriber::give_up(Item&& item, Now now) {
    if (item.kept) {
        --kept_;
    } else {
        unkept_.erase(item.first);
    }
    changes_.emplace_back(PendingSaved{letter_of(item, PendingState::dead, now)});
    dead_.insert(item.rendered->seq);
    if (dead_.size() <= limits::letters_dead_max) return;
    changes_.emplace_back(PendingDropped{row_.name, *dead_.begin()});
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
    retry_now(now);
}

void Subscriber::retry_now(Now now) {
    ready_.clear();
    for (auto& [name, queue] : by_session_) {
        if (tried_.contains(queue.front().rendered->seq)) continue;
        queue.front().not_before = now.steady;
        ready_.emplace(now.steady, queue.front().rendered->seq, name);
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

void Subscriber::check_invariants() const {
    std::size_t kept = 0;
    std::size_t read = 0;
    for (const auto& [name, queue] : by_session_) {
        CHECK(!queue.empty());
        const auto& first = queue.front();
        const auto tried = tried_.find(first.rendered->seq);
        CHECK((tried != tried_.end() && tried->second == name) !=
              ready_.contains({first.not_before, first.rendered->seq, name}));
        for (const auto& item : queue) {
            const auto seq = item.rendered->seq;
            CHECK(item.rendered->session_id == name);
            // A gap that is yet to be told may begin with an event that is kept.
            CHECK(item.kept || unkept_.contains(item.first));
            CHECK(!dead_.contains(seq));
            CHECK(seq <= read_to_ || restored_.contains(seq));
            ++(item.kept ? kept : read);
        }
    }
    CHECK(kept == kept_);
    CHECK(read == unkept_.size());
    CHECK(ready_.size() + tried_.size() == by_session_.size());
    CHECK(row_.cursor == (unkept_.empty() ? read_to_ : *unkept_.begin() - 1));
}

}  // namespace knell
