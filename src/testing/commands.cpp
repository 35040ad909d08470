#include "testing/commands.hpp"

namespace knell::testing {

Owner lease_owner(std::chrono::seconds ttl) {
    Owner owner;
    owner.kind = OwnerKind::lease;
    owner.lease_ttl = ttl;
    owner.host = "testhost";
    return owner;
}

Owner process_owner(int pid) {
    Owner owner;
    owner.process = {.pid = pid, .start_ticks = 7, .pid_namespace = 1, .boot_id = "boot-1"};
    owner.host = "testhost";
    return owner;
}

Owner hosted_owner(std::chrono::seconds window) {
    Owner owner;
    owner.kind = OwnerKind::hosted;
    owner.lease_ttl = window;
    owner.host = "testhost";
    return owner;
}

Create create(std::string id, std::string source) {
    Create create;
    create.draft.id = SessionId(std::move(id));
    create.draft.source = std::move(source);
    create.draft.owner = process_owner(100);
    return create;
}

Create create(std::string id, const Owner& owner) {
    auto command = create(std::move(id));
    command.draft.owner = owner;
    return command;
}

Append append(std::string id, Generation generation, std::vector<std::string> contents) {
    Append append{SessionId(std::move(id)), generation, {}};
    for (auto& content : contents) append.messages.push_back({"user", std::move(content), {}, 3});
    return append;
}

Close close(std::string id, std::optional<Generation> generation, Reason reason) {
    return {.session_id = SessionId(std::move(id)),
            .generation = generation,
            .reason = reason,
            .detail = "said so",
            .said_by = "the test",
            .at = {},
            .leftovers = {}};
}

Resume resume(std::string id, bool takeover) {
    return {.session_id = SessionId(std::move(id)),
            .owner = process_owner(200),
            .takeover = takeover,
            .said_by = "the test"};
}

Label title(std::string id, std::string title) {
    return {SessionId(std::move(id)), std::move(title), {}};
}

Label pin(std::string id, bool pinned) {
    return {SessionId(std::move(id)), {}, pinned};
}

Turn turn(std::string id, Generation generation, bool on) {
    return {SessionId(std::move(id)), generation, on};
}

Turn turn_of(std::string id, int client, std::chrono::seconds window) {
    return {SessionId(std::move(id)), 1, true, static_cast<ClientId>(client), window};
}

Attach attach(std::string id, int client) {
    return {SessionId(std::move(id)), static_cast<ClientId>(client)};
}

Detach detach(std::string id, int client) {
    return {SessionId(std::move(id)), static_cast<ClientId>(client)};
}

ClientGone client_gone(std::string id, int client) {
    const SessionId session(std::move(id));
    return {static_cast<ClientId>(client), {session}, {session}};
}

Heartbeat beat(std::string id, Generation generation) {
    Heartbeat heartbeat;
    heartbeat.beats.push_back({SessionId(std::move(id)), generation});
    return heartbeat;
}

OwnerGone gone(int pid, Departure departure) {
    return {.process = process_owner(pid).process,
            .departure = std::move(departure),
            .found = {},
            .searched = false};
}

OwnerGone gone(int pid, Departure departure, std::string id, std::vector<Leftover> leftovers) {
    auto command = gone(pid, std::move(departure));
    command.found.push_back({SessionId(std::move(id)), std::move(leftovers)});
    command.searched = true;
    return command;
}

Leftover leftover(int pid, Fate fate) {
    return {process_owner(pid).process, "cookie", "sleep 9", fate};
}

Leftover on_record(Leftover leftover) {
    leftover.process_id = process_id_of(leftover.process);
    return leftover;
}

SettleLeftovers settle(std::string id, Generation generation, std::vector<Leftover> leftovers) {
    return {SessionId(std::move(id)), generation, std::move(leftovers)};
}

OwnerUnknown unknown(int pid, std::string why) {
    return {process_owner(pid).process, std::move(why)};
}

OwnerAlive alive(int pid) {
    return {process_owner(pid).process};
}

Departure watched_to_the_end(Departure departure) {
    departure.last_look = SteadyTime::max();
    return departure;
}

Departure exited(int code) {
    return watched_to_the_end(
        {.kind = Departure::Kind::exited, .number = code, .evidence = "seen to exit"});
}

Departure signaled(int signal) {
    return watched_to_the_end(
        {.kind = Departure::Kind::signaled, .number = signal, .evidence = "seen to be killed"});
}

Departure lost() {
    return {.kind = Departure::Kind::lost, .number = 0, .evidence = "no longer there"};
}

Departure host_restarted() {
    return {.kind = Departure::Kind::host_restart, .number = 0, .evidence = "another boot"};
}

ProcessId process_id(int pid) {
    return process_id_of(process_owner(pid).process);
}

RecordProcess record_process(std::string session_id, int pid, ProcessOrigin origin) {
    RecordProcess record;
    record.draft.id = process_id(pid);
    record.draft.session_id = SessionId(std::move(session_id));
    record.draft.origin = origin;
    record.draft.process = process_owner(pid).process;
    record.draft.argv = {"sleep", "9"};
    return record;
}

StopProcess stop_process(int pid) {
    return {process_id(pid), "the test"};
}

VouchProcess vouch(int pid, std::optional<WallTime> until) {
    return {process_id(pid), until};
}

ProcessGone process_gone(int pid, Departure departure) {
    return {
        .process = process_owner(pid).process, .departure = std::move(departure), .never_ran = {}};
}

ProcessActive process_active(int pid, ProcessActivity activity, bool stale) {
    return {.process_id = process_id(pid),
            .facts = {activity, at(0).wall, "seen by the test"},
            .stale = stale};
}

Route route(std::string key, std::string id, int pid) {
    Route route;
    route.draft.id = SessionId(std::move(id));
    route.draft.key = std::move(key);
    route.draft.source = "gateway";
    route.draft.owner = process_owner(pid);
    route.said_by = "the test";
    return route;
}

Reset reset(std::string key, bool force) {
    return {{{}, std::move(key)}, force, "the test"};
}

Suspend suspend(std::string key, std::string why) {
    return {{{}, std::move(key)}, std::move(why), "the test"};
}

Branch branch(std::string id, Generation generation, std::string child, bool keep_open) {
    return {SessionId(std::move(id)),
            generation,
            SessionId(std::move(child)),
            keep_open,
            {},
            "the test"};
}

Compress compress(std::string id, Generation generation, std::string child, std::string summary,
                  std::int64_t covered) {
    Compress compress;
    compress.session_id = SessionId(std::move(id));
    compress.generation = generation;
    compress.child_id = SessionId(std::move(child));
    compress.summary = std::move(summary);
    compress.provider = "short";
    compress.kept_after = covered;
    compress.before = {covered, covered * 3, 0};
    compress.said_by = "the test";
    return compress;
}

std::shared_ptr<const ResetPolicies> idle_policy(std::chrono::minutes idle, OnReset on_reset,
                                                 std::chrono::seconds process_max_age) {
    ResetPolicy policy;
    policy.mode = ResetMode::idle;
    policy.idle = idle;
    policy.on_reset = on_reset;
    policy.process_max_age = process_max_age;
    policy.name = "session_reset";
    return std::make_shared<const ResetPolicies>(policy, std::vector<ResetOverride>{});
}

std::shared_ptr<const ResetPolicies> daily_policy(std::chrono::minutes time_of_day) {
    ResetPolicy policy;
    policy.mode = ResetMode::daily;
    policy.at = time_of_day;
    policy.name = "session_reset";
    return std::make_shared<const ResetPolicies>(policy, std::vector<ResetOverride>{});
}

Now at(std::int64_t seconds) {
    return {from_millis(1'800'000'000'000 + seconds * 1000),
            SteadyTime{std::chrono::seconds{1000 + seconds}},
            SteadyTime{std::chrono::seconds{1000 + seconds}}};
}

}  // namespace knell::testing
