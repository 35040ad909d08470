#include "daemon/node_status.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "platform/clock.hpp"
#include "platform/own_process.hpp"
#include "platform/version.hpp"

namespace knell {

namespace {

/// What does not work as it should, one sentence each.
std::vector<std::string> degraded(const NodeView& node, const StoreFacts& facts) {
    std::vector<std::string> reasons;
    if (const auto why = node.writer.why_failing(); !why.empty()) {
        reasons.emplace_back(why);
    } else if (!facts.problem.empty()) {
        reasons.emplace_back(facts.problem);
    }
    reasons.insert(reasons.end(), node.config_trouble.begin(), node.config_trouble.end());
    const auto& watched = node.watched;
    if (watched.looked_at > 0) {
        reasons.emplace_back(
            fmt::format("{} owners are looked for every second or so: no pidfd can be had for them",
                        watched.looked_at));
    }
    if (node.watched_processes.looked_at > 0) {
        reasons.emplace_back(fmt::format(
            "{} background processes are looked for every second or so: no pidfd can be had for "
            "them",
            node.watched_processes.looked_at));
    }
    if (!node.hook_shortage.empty()) reasons.push_back(node.hook_shortage);
    if (!node.http_trouble.empty()) reasons.push_back(node.http_trouble);
    for (const auto& limit : node.process_limits) reasons.emplace_back("the daemon: " + limit);
    return reasons;
}

}  // namespace

Result<rpc::NodeStatus> describe_node(const NodeView& node, Reader& reader) {
    const auto now = read_clocks();
    auto facts = node.store.facts();
    const auto& figures = node.writer.figures();
    auto day = reader.ends_since(now.wall - std::chrono::hours{24});
    if (!day) return std::unexpected(day.error());
    auto week = reader.ends_since(now.wall - std::chrono::hours{7 * 24});
    if (!week) return std::unexpected(week.error());
    const auto leaked = reader.leaked();
    if (!leaked) return std::unexpected(leaked.error());
    rpc::NodeStatus status;
    status.version = version;
    status.commit = commit;
    status.pid = getpid();
    status.host = node.host;
    status.node_id = node.store.node_id();
    status.boot_id = node.boot_id;
    status.home = node.paths.state_dir;
    status.socket = node.paths.listen_socket;
    status.http = node.http;
    status.started_at = node.started.wall;
    status.uptime =
        std::chrono::duration_cast<std::chrono::seconds>(now.steady - node.started.steady);
    status.open = figures.open;
    std::ranges::copy(figures.by_status, status.by_status.begin());
    status.held_resets = figures.held_resets;
    status.ended_day = std::move(*day);
    status.ended_week = std::move(*week);
    status.ended_without_reason = *leaked;
    status.leases = {.live = figures.leases,
                     .heartbeats = figures.heartbeats,
                     .reaps = figures.reaps,
                     .reap_lateness_last_ms = figures.reap_lateness_last_ms,
                     .reap_lateness_max_ms = figures.reap_lateness_max_ms};
    status.tools = node.writer.tool_counts();
    std::ranges::copy(figures.processes, status.processes.running.begin());
    status.processes.max = node.processes_max;
    status.processes.starts = node.process_counts.starts;
    std::ranges::copy(node.process_counts.exits, status.processes.exits.begin());
    status.watch = {.held = node.watched.held,
                    .looked_at = node.watched.looked_at,
                    .unclear = node.watched.unclear};
    status.last_seq = figures.last_seq;
    status.first_seq = figures.first_seq;
    status.journal = {.commits = figures.commits,
                      .commands = figures.commands,
                      .failures = figures.failures,
                      .queued = node.writer.queued()};
    status.reads_queued = node.reads_queued;
    status.degraded = degraded(node, facts);
    status.is_healthy =
        node.writer.why_failing().empty() && facts.problem.empty() && node.config_trouble.empty();
    if (!node.http_listen.empty()) {
        status.overrides.push_back(
            {.key = "http.listen", .value = node.http_listen, .from = "knell up --http"});
    }
    status.store = std::move(facts);
    status.file_watch_trouble = node.file_watch_trouble;
    status.connections = node.connections;
    status.connections_max = node.connections_max;
    status.attachments = node.attachments;
    const auto own = read_own_process();
    status.process = {.threads = own.threads,
                      .resident_bytes = own.resident_bytes,
                      .descriptors = own.descriptors,
                      .descriptors_max = own.descriptors_max};
    return status;
}

}  // namespace knell
