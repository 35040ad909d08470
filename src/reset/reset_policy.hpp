#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "reset/time_zone.hpp"

namespace knell {

/// When a conversation begins anew: after so long without a word, at a time of day, or at
/// whichever of them comes first.
enum class ResetMode : std::uint8_t { none, idle, daily, both };
inline constexpr std::array<std::string_view, 4> reset_mode_names{"none", "idle", "daily", "both"};

/// What becomes of the background processes of a session that is reset.
enum class OnReset : std::uint8_t { keep, warn, stop };
inline constexpr std::array<std::string_view, 3> on_reset_names{"keep", "warn", "stop"};

/// Which of the two it was.
enum class ResetKind : std::uint8_t { idle, daily };
inline constexpr std::array<std::string_view, 2> reset_kind_names{"idle", "daily"};

struct ResetPolicy {
    ResetMode mode = ResetMode::none;
    std::chrono::minutes idle{1440};
    std::chrono::minutes at = std::chrono::hours{4};  // of the day, in `zone`
    TimeZone zone;
    OnReset on_reset = OnReset::warn;
    /// A background process that is older keeps nothing from being reset.
    std::chrono::seconds process_max_age = std::chrono::hours{24};
    /// Where it stands in the config, for people: "session_reset",
    /// "session_reset.overrides[1] (platform telegram, chat_type dm)".
    std::string name;

    bool operator==(const ResetPolicy&) const = default;
};

struct ResetDue {
    WallTime at;
    ResetKind kind = ResetKind::idle;

    bool operator==(const ResetDue&) const = default;
};

/// Nothing where the policy has none of that kind.  Pure, and without an allocation.
std::optional<WallTime> idle_due(const ResetPolicy& policy, WallTime last_interaction);
std::optional<WallTime> daily_due(const ResetPolicy& policy, WallTime last_interaction);

/// The earlier of the two; idle when both fall on one moment.
std::optional<ResetDue> next_reset(const ResetPolicy& policy, WallTime last_interaction);

}  // namespace knell
