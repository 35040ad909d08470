#include "daemon/node_status.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "core/limits.hpp"
#include "platform/clock.hpp"
#include "platform/version.hpp"

namespace knell {

namespace {

/// Ends of the last `span` by reason and by proof.
Result<JsonObject> ends_in(Reader& reader, WallTime now, std::chrono::hours span) {
    const auto counts = reader.ends_since(now - span);
    if (!counts) return std::unexpected(counts.error());
    std::int64_t total = 0;
    JsonObject by_reason;
    JsonObject by_proof;
    const auto add = [](Json& sum, std::int64_t ends) {
        sum = (sum.is_null() ? 0 : sum.to_number<std::int64_t>()) + ends;
    };
    for (const auto& [key, ends] : *counts) {
        total += ends;
        add(by_reason[name_of(key.first)], ends);
        add(by_proof[name_in(proof_names, key.second)], ends);
    }
    return JsonObject{{"total", total}, {"by_reason", by_reason}, {"by_proof", by_proof}};
}

/// What does not work as it should, one sentence each.
JsonArray degraded(const NodeView& node, const StoreFacts& facts) {
    JsonArray reasons;
    if (const auto why = node.writer.why_failing(); !why.empty()) {
        reasons.emplace_back(why);
    } else if (!facts.problem.empty()) {
        reasons.emplace_back(facts.problem);
    }
    const auto& watched = node.watched;
    if (watched.looked_at > 0) {
        reasons.emplace_back(
            fmt::format("{} owners are looked for every second or so: no pidfd can be had for them",
                        watched.looked_at));
    }
    for (const auto& limit : node.process_limits) reasons.emplace_back("the daemon: " + limit);
    return reasons;
}

}  // namespace

Result<Json> describe_node(const NodeView& node, Reader& reader) {
    const auto now = read_clocks();
    const auto facts = node.store.facts();
    const auto& figures = node.writer.figures();
    JsonObject status;
    status["version"] = version;
    status["commit"] = commit;
    status["pid"] = getpid();
    status["host"] = node.host;
    status["node_id"] = node.store.node_id();
    status["boot_id"] = node.boot_id;
    status["home"] = node.paths.state_dir;
    status["socket"] = node.paths.listen_socket;
    status["started_at"] = format_rfc3339(node.started.wall);
    status["uptime_s"] =
        std::chrono::duration_cast<std::chrono::seconds>(now.steady - node.started.steady).count();
    status["store"] = JsonObject{{"kind", facts.kind},
                                 {"path", facts.path},
                                 {"bytes", facts.bytes},
                                 {"schema", facts.schema},
                                 {"sqlite_version", facts.library}};
    JsonObject sessions{{"open", figures.open.load()}};
    for (std::size_t i = 0; i < status_names.size(); ++i) {
        if (static_cast<Status>(i) == Status::ended) continue;
        sessions[status_names.at(i)] = figures.by_status.at(i).load();
    }
    status["sessions"] = std::move(sessions);
    const auto day = ends_in(reader, now.wall, std::chrono::hours{24});
    const auto week = ends_in(reader, now.wall, std::chrono::hours{7 * 24});
    const auto leaked = reader.leaked();
    if (!day) return std::unexpected(day.error());
    if (!week) return std::unexpected(week.error());
    if (!leaked) return std::unexpected(leaked.error());
    status["ended"] = JsonObject{{"day", *day}, {"week", *week}};
    status["leaks"] = JsonObject{{"ended_without_reason", *leaked}};
    status["leases"] = JsonObject{{"live", figures.leases.load()},
                                  {"heartbeats", figures.heartbeats.load()},
                                  {"reaps", figures.reaps.load()},
                                  {"reap_lateness_last_ms", figures.reap_lateness_last_ms.load()},
                                  {"reap_lateness_max_ms", figures.reap_lateness_max_ms.load()}};
    const auto& watched = node.watched;
    status["watched_processes"] = watched.held + watched.looked_at;
    status["watch"] = JsonObject{
        {"pidfd", watched.held}, {"looked_at", watched.looked_at}, {"unknown", watched.unclear}};
    status["events"] =
        JsonObject{{"last_seq", figures.last_seq.load()}, {"first_seq", figures.first_seq.load()}};
    status["journal"] = JsonObject{{"commits", figures.commits.load()},
                                   {"commands", figures.commands.load()},
                                   {"failures", figures.failures.load()},
                                   {"queued", node.writer.queued()},
                                   {"queued_max", limits::queue_commands_max}};
    status["reads"] =
        JsonObject{{"queued", node.reads_queued}, {"queued_max", limits::queue_reads_max}};
    status["degraded"] = degraded(node, facts);
    if (const auto& trouble = node.file_watch_trouble; !trouble.empty()) {
        status["file_watch"] = JsonObject{{"by", "looking"}, {"why", trouble}};
    }
    status["connections"] = JsonObject{{"open", node.connections}, {"max", node.connections_max}};
    return status;
}

}  // namespace knell
