#pragma once

#include <optional>

#include "core/limits.hpp"
#include "engine/command.hpp"
#include "rpc/backend.hpp"
#include "wire/given.hpp"
#include "wire/session_fields.hpp"

/// What the methods that give a session an owner have in common.
namespace knell::rpc {

namespace owner_rows {

using namespace wire::fields;

inline constexpr Field command_param{.name = "command",
                                     .type = text,
                                     .may_be_empty = true,
                                     .max = limits::owner_command_bytes_max,
                                     .about = "what runs, for people"};
inline constexpr std::array owner_params{
    Field{.name = "kind",
          .type = choice,
          .choices = names_of<OwnerKind>,
          .about = "lease, for a lease of the usual length or one that stands for `pid`; hosted: "
                   "the daemon keeps it for clients that come and go"},
    Field{.name = "pid",
          .type = integer,
          .min = 1,
          .max = INT32_MAX,
          .about = "a living process, which is watched"},
    Field{.name = "pid_namespace",
          .type = integer,
          .min = 1,
          .max = unbounded,
          .about = "where that pid counts; default: the caller's"},
    Field{.name = "lease_ttl_s",
          .type = integer,
          .min = limits::lease_ttl_min.count(),
          .max = limits::lease_ttl_max.count(),
          .standard = limits::lease_ttl_default.count(),
          .about = "seconds within which it must be renewed"},
    Field{.name = "host",
          .type = text,
          .max = limits::user_id_bytes_max,
          .about = "of a lease: where its holder runs; default: here"},
    command_param,
};
inline constexpr Field owner_param{.name = "owner",
                                   .type = object,
                                   .fields = owner_params,
                                   .about =
                                       "{pid, pid_namespace?}, {lease_ttl_s} or both, or {kind: "
                                       "hosted}; default: the calling process, over HTTP hosted"};
inline constexpr Field on_owner_loss_param{.name = "on_owner_loss",
                                           .type = choice,
                                           .standard = place_of(OnOwnerLoss::end),
                                           .choices = names_of<OnOwnerLoss>,
                                           .about = "end (default) or park"};
inline constexpr Field park_param{.name = "park_s",
                                  .type = integer,
                                  .min = 1,
                                  .max = limits::park_window_max.count(),
                                  .about = "with park: for how long, default 300"};
inline constexpr Field leftovers_param{
    .name = "leftovers",
    .type = choice,
    .standard = place_of(LeftoversPolicy::none),
    .choices = names_of<LeftoversPolicy>,
    .about = "the session is one command: report or stop what it leaves"};
// Without this word the children of whoever makes the call are nobody's leftovers.
inline constexpr Field reaper_param{
    .name = "reaper",
    .type = boolean,
    .standard = 0,
    .about = "the caller adopts orphans, and has no children but the command's"};

/// As it was when the call was spooled; by now it may be dead.
inline constexpr std::array spooled_owner_params{
    Field{.name = "pid",
          .type = integer,
          .required = true,
          .min = 1,
          .max = INT32_MAX,
          .about = "the command"},
    Field{.name = "start_ticks",
          .type = integer,
          .max = unbounded,
          .standard = 0,
          .about = "when it started"},
    Field{.name = "boot_id",
          .type = text,
          .max = limits::word_bytes_max,
          .about = "the boot that counted these"},
    Field{.name = "pid_namespace",
          .type = integer,
          .max = unbounded,
          .standard = 0,
          .about = "where that pid counts"},
    command_param,
};

}  // namespace owner_rows

using GivenOwner = wire::Given<owner_rows::owner_params>;
using GivenSpooledOwner = wire::Given<owner_rows::spooled_owner_params>;

/// {pid}, {lease_ttl_s} or both, or {kind: "lease"} for one of the usual length; without an owner
/// the calling process is it.  {kind: "lease", pid} is a lease that stands for a process which
/// cannot be seen from here: somebody who sees it renews it.
Owner read_owner(wire::FieldReader& given, std::optional<GivenOwner> owner, const Caller& caller,
                 const Surroundings& here);

/// The process that owned a session as it was spooled, as we know it.
Owner read_spooled_owner(GivenSpooledOwner& given, const Surroundings& here);

/// What becomes of a session whose owner is gone.
struct OwnerLoss {
    OnOwnerLoss act = OnOwnerLoss::end;
    std::chrono::seconds window{0};
};
OwnerLoss read_owner_loss(wire::FieldReader& given, OnOwnerLoss act,
                          std::optional<std::int64_t> park_s);

/// Whether the caller will be told by the kernel how the owner ends.
bool is_parent(const Caller& caller, const Owner& owner, const Surroundings& here);

/// One that cannot be identified adopts nobody's orphans.
Reaper reaper_of(const Caller& caller, const Surroundings& here);

}  // namespace knell::rpc
