// node.status: how the daemon is.

#include "core/limits.hpp"
#include "rpc/method_table.hpp"
#include "wire/session_fields.hpp"

namespace knell::rpc {

namespace {

using namespace wire::fields;

constexpr std::array store_fields{
    always("kind", text, "sqlite"),
    always("path", text, "where it is"),
    always("bytes", integer, "how long it is"),
    always("schema", integer, "the last migration it has run"),
    always("sqlite_version", text, "of the library"),
};
constexpr std::array session_counts = [] {
    std::array<Field, status_names.size()> rows{always("open", integer, "all of these")};
    std::size_t next = 1;
    for (std::size_t i = 0; i < status_names.size(); ++i) {
        if (static_cast<Status>(i) == Status::ended) continue;
        rows.at(next++) = always(status_names.at(i), integer, "sessions of this status");
    }
    return rows;
}();
constexpr std::array reset_counts{
    always("held", integer, "open sessions whose reset is due and waits for background work"),
};
constexpr std::array span_fields{
    always("total", integer, "sessions that ended"),
    always("by_reason", object, "how many by reason"),
    always("by_proof", object, "how many by proof"),
};
constexpr std::array ended_fields{
    always_object("day", span_fields, "in the last 24 hours"),
    always_object("week", span_fields, "in the last 7 days"),
};
constexpr std::array leak_fields{
    always("ended_without_reason", integer, "must be 0"),
};
constexpr std::array lease_fields{
    always("live", integer, "leases that must be renewed"),
    always("heartbeats", integer, "since the daemon started"),
    always("reaps", integer, "since the daemon started"),
    always("reap_lateness_last_ms", integer, "how late the last one was"),
    always("reap_lateness_max_ms", integer, "how late the latest one was"),
};
constexpr std::array nudge_counts = [] {
    std::array<Field, nudge_level_names.size()> rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows.at(i) = always(nudge_level_names.at(i), integer, "of this level");
    }
    return rows;
}();
constexpr std::array tool_counts{
    always("reports", integer, "calls that were reported since the daemon started"),
    always("errors", integer, "of these failed"),
    always_object("nudges", nudge_counts, "times that an agent was told that it is stuck"),
    always("denials", integer, "calls that an open circuit breaker refused"),
};
constexpr std::array process_counts{
    always("running", integer, "all of these"),
    always("working", integer, "that do something"),
    always("listening", integer, "that offer a service nobody uses"),
    always("waiting", integer, "that do nothing"),
    always("max", integer, "then the answer is `limit`"),
};
constexpr std::array watch_fields{
    always("pidfd", integer, "owners held by a pidfd"),
    always("looked_at", integer, "owners that are looked for every second or so"),
    always("unknown", integer, "owners that cannot be checked"),
};
constexpr std::array event_counts{
    always("last_seq", integer, "the newest event"),
    always("first_seq", integer, "the oldest that is kept"),
};
constexpr std::array journal_fields{
    always("commits", integer, "since the daemon started"),
    always("commands", integer, "decided since then"),
    always("failures", integer, "commits that the store refused"),
    always("queued", integer, "calls that wait for the writer"),
    always("queued_max", integer, "then the answer is `limit`"),
};
constexpr std::array read_fields{
    always("queued", integer, "reads that wait"),
    always("queued_max", integer, "then the answer is `limit`"),
};
constexpr std::array file_watch_fields{
    always("by", text, "looking"),
    always("why", text, "why the kernel does not tell of changes"),
};
constexpr std::array connection_fields{
    always("open", integer, "clients"),
    always("max", integer, "then the answer is `limit`"),
};
constexpr std::array override_fields{
    always("key", text, "of config.yaml"),
    always("value", text, "what holds"),
    always("from", text, "who said so: `knell up --http`"),
};
constexpr std::array status_result{
    always("version", text, "of knell"),
    always("commit", text, "it was built from"),
    always("pid", integer, "of the daemon"),
    always("host", text, "where it runs"),
    always("node_id", text, "names this node in the ids of events"),
    always("boot_id", text, "of the running kernel"),
    always("home", text, "where its state is"),
    always("socket", text, "where it listens"),
    only("HTTP clients are served", "http", text, "where these connect: ADDRESS:PORT"),
    always("started_at", time, "when it came up"),
    always("uptime_s", integer, "for how long it has run"),
    always_object("store", store_fields, "the record"),
    always_object("sessions", session_counts, "open ones, by status"),
    always_object("resets", reset_counts, "resets by policy"),
    always_object("ended", ended_fields, "those that ended lately"),
    always_object("leaks", leak_fields, "what must not be"),
    always_object("leases", lease_fields, "leases and how they end"),
    always_object("tools", tool_counts, "calls of agents' tools"),
    always_object("processes", process_counts, "background processes that run"),
    always("watched_processes", integer, "owners that are watched"),
    always_object("watch", watch_fields, "how they are watched"),
    always_object("events", event_counts, "what is kept of the log"),
    always_object("journal", journal_fields, "the writer"),
    always_object("reads", read_fields, "the reader"),
    always_list("degraded", text, "what does not work as it should, one sentence each"),
    always("healthy", boolean, "the store takes writes, and config.yaml is without an error"),
    Field{.name = "overrides",
          .type = array,
          .fields = override_fields,
          .when = "the daemon was started with such options",
          .about = "what holds until it stops, whatever config.yaml says"},
    Field{.name = "file_watch",
          .type = object,
          .fields = file_watch_fields,
          .when = "changed files are looked for instead of told of",
          .about = "why"},
    always_object("connections", connection_fields, "clients"),
};

JsonObject render(const EndCounts& counts) {
    std::int64_t total = 0;
    JsonObject by_reason;
    JsonObject by_proof;
    const auto add = [](Json& sum, std::int64_t ends) {
        sum = (sum.is_null() ? 0 : sum.to_number<std::int64_t>()) + ends;
    };
    for (const auto& [key, ends] : counts) {
        total += ends;
        add(by_reason[name_of(key.first)], ends);
        add(by_proof[name_in(proof_names, key.second)], ends);
    }
    return {{"total", total}, {"by_reason", by_reason}, {"by_proof", by_proof}};
}

JsonObject render_sessions(const NodeStatus& node) {
    JsonObject sessions{{"open", node.open}};
    for (std::size_t i = 0; i < status_names.size(); ++i) {
        if (static_cast<Status>(i) == Status::ended) continue;
        sessions[status_names.at(i)] = node.by_status.at(i);
    }
    return sessions;
}

JsonObject render(const NodeStatus::Leases& leases) {
    return {{"live", leases.live},
            {"heartbeats", leases.heartbeats},
            {"reaps", leases.reaps},
            {"reap_lateness_last_ms", leases.reap_lateness_last_ms},
            {"reap_lateness_max_ms", leases.reap_lateness_max_ms}};
}

JsonObject render(const GuardCounts& tools) {
    JsonObject nudges;
    for (std::size_t i = 0; i < nudge_level_names.size(); ++i) {
        nudges[nudge_level_names.at(i)] = tools.of(static_cast<NudgeLevel>(i));
    }
    return {{"reports", tools.reports},
            {"errors", tools.errors},
            {"nudges", nudges},
            {"denials", tools.denials}};
}

JsonObject render(const NodeStatus::Processes& processes) {
    const auto count = [&processes](ProcessActivity activity) {
        return processes.running.at(static_cast<std::size_t>(activity));
    };
    const auto working = count(ProcessActivity::working);
    const auto listening = count(ProcessActivity::listening);
    const auto waiting = count(ProcessActivity::waiting);
    return {{"running", working + listening + waiting},
            {"working", working},
            {"listening", listening},
            {"waiting", waiting},
            {"max", processes.max}};
}

JsonObject render(const NodeStatus& node) {
    JsonObject status;
    status["version"] = node.version;
    status["commit"] = node.commit;
    status["pid"] = node.pid;
    status["host"] = node.host;
    status["node_id"] = node.node_id;
    status["boot_id"] = node.boot_id;
    status["home"] = node.home;
    status["socket"] = node.socket;
    if (!node.http.empty()) status["http"] = node.http;
    status["started_at"] = format_rfc3339(node.started_at);
    status["uptime_s"] = node.uptime.count();
    status["store"] = JsonObject{{"kind", node.store.kind},
                                 {"path", node.store.path},
                                 {"bytes", node.store.bytes},
                                 {"schema", node.store.schema},
                                 {"sqlite_version", node.store.library}};
    status["sessions"] = render_sessions(node);
    status["resets"] = JsonObject{{"held", node.held_resets}};
    status["ended"] =
        JsonObject{{"day", render(node.ended_day)}, {"week", render(node.ended_week)}};
    status["leaks"] = JsonObject{{"ended_without_reason", node.ended_without_reason}};
    status["leases"] = render(node.leases);
    status["tools"] = render(node.tools);
    status["processes"] = render(node.processes);
    const auto& watch = node.watch;
    status["watched_processes"] = watch.held + watch.looked_at;
    status["watch"] = JsonObject{
        {"pidfd", watch.held}, {"looked_at", watch.looked_at}, {"unknown", watch.unclear}};
    status["events"] = JsonObject{{"last_seq", node.last_seq}, {"first_seq", node.first_seq}};
    status["journal"] = JsonObject{{"commits", node.journal.commits},
                                   {"commands", node.journal.commands},
                                   {"failures", node.journal.failures},
                                   {"queued", node.journal.queued},
                                   {"queued_max", limits::queue_commands_max}};
    status["reads"] =
        JsonObject{{"queued", node.reads_queued}, {"queued_max", limits::queue_reads_max}};
    status["degraded"] = JsonArray(node.degraded.begin(), node.degraded.end());
    status["healthy"] = node.is_healthy;
    JsonArray overrides;
    for (const auto& [key, value, from] : node.overrides) {
        overrides.push_back(JsonObject{{"key", key}, {"value", value}, {"from", from}});
    }
    if (!overrides.empty()) status["overrides"] = std::move(overrides);
    if (const auto& trouble = node.file_watch_trouble; !trouble.empty()) {
        status["file_watch"] = JsonObject{{"by", "looking"}, {"why", trouble}};
    }
    status["connections"] = JsonObject{{"open", node.connections}, {"max", node.connections_max}};
    return status;
}

void status(Call&& call, Backend& backend) {
    backend.read(
        call.caller.connection,
        [&backend](Reader& reader) -> Result<Json> {
            const auto node = backend.node_status(reader);
            if (!node) return std::unexpected(node.error());
            return render(*node);
        },
        std::move(call.respond));
}

constexpr std::array family{
    Method{"node.status",
           "the daemon itself",
           {},
           status_result,
           status,
           /*is_ordered=*/false,
           Access::read_only},
};

}  // namespace

std::span<const Method> node_status_methods() {
    return family;
}

}  // namespace knell::rpc
