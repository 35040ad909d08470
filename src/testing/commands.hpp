#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/awake_clock.hpp"
#include "engine/input.hpp"
#include "reset/reset_policies.hpp"

namespace knell::testing {

/// Short ways to say a command.

Owner lease_owner(std::chrono::seconds ttl = std::chrono::seconds{45});
Owner process_owner(int pid);
/// Kept by the daemon, for so long when nothing holds it.
Owner hosted_owner(std::chrono::seconds window = std::chrono::seconds{60});

Create create(std::string id, std::string source = "cli");
/// The same, of another owner.
Create create(std::string id, const Owner& owner);
Append append(std::string id, Generation generation, std::vector<std::string> contents);
Close close(std::string id, std::optional<Generation> generation = {},
            Reason reason = Reason::completed);
Resume resume(std::string id, bool takeover = false);
Turn turn(std::string id, Generation generation, bool on);
Label title(std::string id, std::string title);
Label pin(std::string id, bool pinned = true);
/// The same, begun by that client: held by it, and without it for the window.
Turn turn_of(std::string id, int client, std::chrono::seconds window = std::chrono::seconds{600});
Attach attach(std::string id, int client);
Detach detach(std::string id, int client);
/// The connection of a client that looked at that session and may have begun its turn.
ClientGone client_gone(std::string id, int client);
Heartbeat beat(std::string id, Generation generation = 1);

/// How the owner with that pid went; nobody looked for leftovers.
OwnerGone gone(int pid, Departure departure);
/// The same, and this is what that session's command left behind.
OwnerGone gone(int pid, Departure departure, std::string id, std::vector<Leftover> leftovers);
Leftover leftover(int pid, Fate fate = Fate::left);
/// The same, on record as a background process of its session.
Leftover on_record(Leftover leftover);
SettleLeftovers settle(std::string id, Generation generation, std::vector<Leftover> leftovers);
OwnerUnknown unknown(int pid, std::string why = "nothing to be seen");
OwnerAlive alive(int pid);
/// Seen to be there until the very moment it went.
Departure watched_to_the_end(Departure departure);
Departure exited(int code);
Departure signaled(int signal);
/// Found gone some time after the fact.
Departure lost();
Departure host_restarted();

/// A background process of that session, named after its pid.
RecordProcess record_process(std::string session_id, int pid,
                             ProcessOrigin origin = ProcessOrigin::started);
ProcessId process_id(int pid);
StopProcess stop_process(int pid);
VouchProcess vouch(int pid, std::optional<WallTime> until);
ProcessGone process_gone(int pid, Departure departure);
ProcessActive process_active(int pid, ProcessActivity activity, bool stale = false);

/// A message for that key, from a gateway with that pid; if a session is opened, it has that id.
Route route(std::string key, std::string id, int pid = 500);
Reset reset(std::string key, bool force = false);
Suspend suspend(std::string key, std::string why = {});
Branch branch(std::string id, Generation generation, std::string child, bool keep_open = false);
/// A summary of the first `covered` messages, which came by `append`.
Compress compress(std::string id, Generation generation, std::string child, std::string summary,
                  std::int64_t covered);
/// The same for all: reset after so long without a word.
std::shared_ptr<const ResetPolicies> idle_policy(
    std::chrono::minutes idle, OnReset on_reset = OnReset::warn,
    std::chrono::seconds process_max_age = std::chrono::hours{24});
/// At that time of the day, in UTC.
std::shared_ptr<const ResetPolicies> daily_policy(std::chrono::minutes time_of_day);

/// Wall and steady time `seconds` after an arbitrary start.
Now at(std::int64_t seconds);

}  // namespace knell::testing
