#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rpc/backend.hpp"
#include "store/store.hpp"
#include "wire/json.hpp"
#include "wire/session_fields.hpp"

namespace knell::wire {

template <>
inline constexpr std::span<const std::string_view> names_of<ResetMode>{reset_mode_names};
template <>
inline constexpr std::span<const std::string_view> names_of<ResetKind>{reset_kind_names};
template <>
inline constexpr std::span<const std::string_view> names_of<OnReset>{on_reset_names};

}  // namespace knell::wire

/// What the methods tell of the reset of a session.
namespace knell::rpc {

namespace reset_rows {

using namespace wire::fields;

inline constexpr std::array held_fields{
    always("since", time, "since when"),
    only("they cannot hold it for ever", "until", time,
         "when they can hold it no longer, as things are"),
    with_object(always("blockers", array, "what holds it"), "blocker", blocker_fields),
};
inline constexpr std::array reset_fields{
    always("policy", text, "where its policy stands in the config"),
    always_one_of<ResetMode>("mode", "what it is reset by"),
    only("it is reset by policy", "next_reset_at", time,
         "when it falls due, if nobody says anything until then; past: it is due"),
    Field{.name = "kind",
          .type = choice,
          .choices = names_of<ResetKind>,
          .when = "it is reset by policy",
          .about = "by what it falls due then"},
    always_one_of<OnReset>("on_reset", "what becomes of its background processes then"),
    only("it is due, and a turn is on", "waits_for_turn_since", time,
         "since when that turn is on; it is reset once that has ended"),
    with_object(only("it is due, and background work holds it back", "held", object, "by what"), "",
                held_fields),
};

}  // namespace reset_rows

/// Of an open session with a key.
struct ResetView {
    ResetPolicy policy;
    std::optional<ResetDue> next;
    WallTime last_interaction;
    std::optional<WallTime> turn_since;
    std::optional<HeldReset> held;

    /// It is due, and would come if no turn were on.
    bool waits_for_turn(WallTime now) const { return turn_since && next && next->at <= now; }
};

/// Nothing of one that no policy is for: it has ended, or has no key.
std::optional<ResetView> view_reset(const Session& session, const ResetPolicies& policies);
/// The same with what memory knows of it, which is newer than the record.
std::optional<ResetView> view_reset(Session session, const InspectReply& live,
                                    const ResetPolicies& policies);
/// On the read thread: what holds it, by the record; nothing where nothing does.
Result<std::optional<HeldReset>> read_held(const Session& session, const ResetPolicy& policy,
                                           Reader& reader, const Backend& backend);

JsonObject render_held(const HeldReset& held);
JsonObject render_reset(const ResetView& view, WallTime now);
/// Among all that would end the session; nothing where no policy does.
std::optional<JsonObject> render_cause(const ResetView& view, WallTime now);
/// All of it for people, a sentence each: which policy holds, when it is due, what holds it back,
/// and what a suspended one waits for.
std::vector<std::string> explain_reset(const Session& session, const ResetView& view, WallTime now);

}  // namespace knell::rpc
