#pragma once

#include <span>
#include <string_view>

#include "core/background_process.hpp"
#include "core/compression.hpp"
#include "core/end.hpp"
#include "core/event.hpp"
#include "core/guard.hpp"
#include "core/leftover.hpp"
#include "core/owner.hpp"
#include "core/session.hpp"
#include "store/delivery.hpp"

/// The words that a field of each enum takes, in the order of its enumerators.
namespace knell::wire {

template <typename Enum>
inline constexpr std::span<const std::string_view> names_of;

template <>
inline constexpr std::span<const std::string_view> names_of<CompressOutcome>{
    compress_outcome_names};
template <>
inline constexpr std::span<const std::string_view> names_of<EventType>{event_type_names};
template <>
inline constexpr std::span<const std::string_view> names_of<Fate>{fate_names};
template <>
inline constexpr std::span<const std::string_view> names_of<LeftoversPolicy>{
    leftovers_policy_names};
template <>
inline constexpr std::span<const std::string_view> names_of<BreakerState>{breaker_state_names};
template <>
inline constexpr std::span<const std::string_view> names_of<NudgeKind>{nudge_kind_names};
template <>
inline constexpr std::span<const std::string_view> names_of<NudgeLevel>{nudge_level_names};
template <>
inline constexpr std::span<const std::string_view> names_of<OnOwnerLoss>{on_owner_loss_names};
template <>
inline constexpr std::span<const std::string_view> names_of<OwnerKind>{owner_kind_names};
template <>
inline constexpr std::span<const std::string_view> names_of<PendingState>{letter_state_names};
template <>
inline constexpr std::span<const std::string_view> names_of<ExitKind>{exit_kind_names};
template <>
inline constexpr std::span<const std::string_view> names_of<ProcessActivity>{
    process_activity_names};
template <>
inline constexpr std::span<const std::string_view> names_of<ProcessOrigin>{process_origin_names};
template <>
inline constexpr std::span<const std::string_view> names_of<Proof>{proof_names};
template <>
inline constexpr std::span<const std::string_view> names_of<Relation>{relation_names};
template <>
inline constexpr std::span<const std::string_view> names_of<Status>{status_names};

/// The place of an enumerator, as the default of its field.
template <typename Enum>
constexpr std::int64_t place_of(Enum value) {
    return static_cast<std::int64_t>(value);
}

}  // namespace knell::wire
