#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/rendered_event.hpp"

namespace knell {

enum class SubscriberState : std::uint8_t {
    active,
    paused,   // by a person
    disabled  // the receiver said: never again
};
inline constexpr std::array<std::string_view, 3> subscriber_state_names{"active", "paused",
                                                                        "disabled"};

/// How far a subscriber is.
struct Subscription {
    std::string name;
    /// All events up to here were delivered, are kept as letters, or were not wanted.
    Seq cursor = 0;
    SubscriberState state = SubscriberState::active;
    WallTime since;
    std::int64_t delivered = 0;
    std::int64_t failures = 0;  // attempts
    std::int64_t lost = 0;      // events that the log let go of before they could be read
    std::optional<WallTime> last_delivery_at;
    std::optional<WallTime> last_failure_at;
    std::string last_error;

    bool operator==(const Subscription&) const = default;
};

enum class PendingState : std::uint8_t {
    waiting,  // to be tried again, or behind one of its session that is
    dead      // given up; a person may send it again
};
inline constexpr std::array<std::string_view, 2> letter_state_names{"waiting", "dead"};

/// An event that a subscriber could not be given yet, whole: the log may let go of it meanwhile.
struct PendingDelivery {
    std::string subscriber;
    RenderedEvent rendered;
    PendingState state = PendingState::waiting;
    int attempts = 0;
    /// What it has waited between attempts.  Counted, not read off a clock: neither a clock step
    /// nor a week in which the host was off brings the day closer on which we give up.
    std::chrono::milliseconds waited{0};
    WallTime next_try_at;
    std::string last_error;

    bool operator==(const PendingDelivery&) const = default;
};

struct SubscriptionSaved {
    Subscription subscription;
};
struct SubscriptionForgotten {
    std::string name;  // with all its letters
};
struct PendingSaved {
    PendingDelivery letter;
};
struct PendingDropped {
    std::string subscriber;
    Seq seq = 0;
};
using DeliveryChange =
    std::variant<SubscriptionSaved, SubscriptionForgotten, PendingSaved, PendingDropped>;

struct PendingQuery {
    std::string subscriber;  // "": of all
    std::optional<PendingState> state;
    Seq after = 0;  // only with a subscriber, or behind `after_subscriber`
    std::size_t limit = 0;
    /// Of all: only what comes behind this one's number `after`.
    std::string after_subscriber;
    bool without_events = false;  // leave the events' texts out
};

}  // namespace knell
