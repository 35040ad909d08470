#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "core/leftover.hpp"

namespace knell {

/// Why a session ended.  Spelled as on the wire; the table below holds what each one means.
enum class Reason : std::uint8_t {
    completed,
    manual_reset,
    auto_reset,
    idle_expiry,
    daily_reset,
    detached_expiry,
    compression,
    branched,
    superseded,
    exited,
    signaled,
    oom_killed,
    owner_lost,
    host_restart,
    reaped,
    node_lost,
    shutdown,
    imported,
};

/// How an end is known: it follows from who saw it, not from the word that is used for it.
enum class Proof : std::uint8_t { declared, observed, policy, inferred };

/// Who may give a reason.  A client may say what it did or saw; only the daemon may infer.
enum class SaidBy : std::uint8_t { anyone, daemon };

struct ReasonRow {
    Reason reason;
    std::string_view name;
    Proof proof;  // the usual one; an End has its own
    SaidBy said_by;
};

inline constexpr std::array<ReasonRow, 18> reason_table{{
    {Reason::completed, "completed", Proof::declared, SaidBy::anyone},
    {Reason::manual_reset, "manual_reset", Proof::declared, SaidBy::anyone},
    {Reason::auto_reset, "auto_reset", Proof::policy, SaidBy::anyone},
    {Reason::idle_expiry, "idle_expiry", Proof::policy, SaidBy::anyone},
    {Reason::daily_reset, "daily_reset", Proof::policy, SaidBy::anyone},
    {Reason::detached_expiry, "detached_expiry", Proof::policy, SaidBy::anyone},
    {Reason::compression, "compression", Proof::declared, SaidBy::anyone},
    {Reason::branched, "branched", Proof::declared, SaidBy::anyone},
    {Reason::superseded, "superseded", Proof::declared, SaidBy::daemon},
    {Reason::exited, "exited", Proof::observed, SaidBy::anyone},
    {Reason::signaled, "signaled", Proof::observed, SaidBy::anyone},
    {Reason::oom_killed, "oom_killed", Proof::observed, SaidBy::anyone},
    {Reason::owner_lost, "owner_lost", Proof::observed, SaidBy::anyone},
    {Reason::host_restart, "host_restart", Proof::observed, SaidBy::daemon},
    {Reason::reaped, "reaped", Proof::inferred, SaidBy::daemon},
    {Reason::node_lost, "node_lost", Proof::inferred, SaidBy::daemon},
    {Reason::shutdown, "shutdown", Proof::declared, SaidBy::anyone},
    {Reason::imported, "imported", Proof::inferred, SaidBy::daemon},
}};

constexpr const ReasonRow& row_of(Reason reason) {
    return reason_table.at(static_cast<std::size_t>(reason));
}
constexpr std::string_view name_of(Reason reason) {
    return row_of(reason).name;
}
std::optional<Reason> parse_reason(std::string_view text);

inline constexpr std::array<std::string_view, 4> proof_names{"declared", "observed", "policy",
                                                             "inferred"};

/// How a session ended: the reason with its evidence and honest bounds,
/// ended_after <= ended_at <= ended_before.
struct End {
    Reason reason = Reason::completed;
    Proof proof = Proof::declared;
    std::string detail;
    std::string evidence;
    WallTime ended_at;
    WallTime ended_after;
    WallTime ended_before;
    std::vector<Leftover> leftovers;  // what its command started and left running

    bool operator==(const End&) const = default;
};

}  // namespace knell
