#include "rpc/metrics.hpp"

#include "core/limits.hpp"
#include "rpc/metric_text.hpp"

namespace knell::rpc {

namespace {

double seconds(std::int64_t millis) {
    return static_cast<double>(millis) / 1000;
}

void put_process(MetricText& text, const NodeStatus& node) {
    text.gauge("knell_build_info", "Always 1; what runs is in the labels.")
        .sample(1, {{"version", node.version}, {"commit", node.commit}});
    text.gauge("knell_start_time_seconds", "When the daemon came up, in seconds since 1970.")
        .sample(seconds(to_millis(node.started_at)));
    text.gauge("knell_uptime_seconds", "For how long the daemon has run.")
        .sample(node.uptime.count());
    text.gauge("knell_process_threads", "Threads of the daemon.").sample(node.process.threads);
    text.gauge("knell_process_resident_memory_bytes", "Memory of the daemon that is resident.")
        .sample(node.process.resident_bytes);
    text.gauge("knell_process_open_fds", "File descriptors that the daemon holds.")
        .sample(node.process.descriptors);
    text.gauge("knell_process_max_fds", "File descriptors that it may hold.")
        .sample(node.process.descriptors_max);
    text.gauge("knell_degraded", "Things that do not work as they should; knell status names them.")
        .sample(node.degraded.size());
}

void put_clients(MetricText& text, const NodeStatus& node) {
    text.gauge("knell_connections", "Clients that are connected.").sample(node.connections);
    text.gauge("knell_connections_max", "Clients that may be; then the answer is limit.")
        .sample(node.connections_max);
    text.gauge("knell_attachments", "Clients that look at a session.").sample(node.attachments);
}

void put_ends(MetricText& text, const EndCounts& ends) {
    for (const auto& [how, count] : ends) {
        text.sample(count,
                    {{"reason", name_of(how.first)}, {"proof", name_in(proof_names, how.second)}});
    }
}

void put_sessions(MetricText& text, const NodeStatus& node) {
    text.gauge("knell_sessions", "Open sessions by status.");
    for (std::size_t i = 0; i < status_names.size(); ++i) {
        if (static_cast<Status>(i) == Status::ended) continue;
        text.sample(node.by_status.at(i), {{"status", status_names.at(i)}});
    }
    text.gauge("knell_resets_held",
               "Open sessions whose reset is due and waits for background work.")
        .sample(node.held_resets);
    text.gauge("knell_sessions_ended_last_day", "Sessions that ended in the last 24 hours.");
    put_ends(text, node.ended_day);
    text.gauge("knell_sessions_ended_last_week", "Sessions that ended in the last 7 days.");
    put_ends(text, node.ended_week);
    text.gauge("knell_sessions_ended_without_reason", "Must be 0.")
        .sample(node.ended_without_reason);
    text.gauge("knell_watched_owners", "Owners by how they are watched.")
        .sample(node.watch.held, {{"how", "pidfd"}})
        .sample(node.watch.looked_at, {{"how", "looked_at"}})
        .sample(node.watch.unclear, {{"how", "unknown"}});
}

void put_background(MetricText& text, const NodeStatus::Processes& processes) {
    text.gauge("knell_background_processes", "Background processes that run, by what they do.");
    for (std::size_t i = 0; i < process_activity_names.size(); ++i) {
        if (static_cast<ProcessActivity>(i) == ProcessActivity::exited) continue;
        text.sample(processes.running.at(i), {{"activity", process_activity_names.at(i)}});
    }
    text.gauge("knell_background_processes_max",
               "Background processes that may run; then the answer is limit.")
        .sample(processes.max);
    text.counter("knell_background_process_starts_total",
                 "Background processes that came on record since the daemon came up.")
        .sample(processes.starts);
    text.counter("knell_background_process_exits_total",
                 "Background processes that ended since then.");
    for (std::size_t i = 0; i < exit_kind_names.size(); ++i) {
        text.sample(processes.exits.at(i), {{"kind", exit_kind_names.at(i)}});
    }
}

void put_leases(MetricText& text, const NodeStatus::Leases& leases) {
    text.gauge("knell_leases", "Leases that must be renewed.").sample(leases.live);
    text.counter("knell_heartbeats_total", "Signs of life since the daemon came up.")
        .sample(leases.heartbeats);
    text.counter("knell_reaps_total", "Sessions whose lease ran out since the daemon came up.")
        .sample(leases.reaps);
    text.gauge("knell_reap_lateness_last_seconds", "How late the last of them was ended.")
        .sample(seconds(leases.reap_lateness_last_ms));
    text.gauge("knell_reap_lateness_max_seconds", "How late the latest of them was ended.")
        .sample(seconds(leases.reap_lateness_max_ms));
}

void put_tools(MetricText& text, const GuardCounts& tools) {
    text.counter("knell_tool_reports_total",
                 "Calls of agents' tools that were reported since the daemon came up.")
        .sample(tools.reports - tools.errors, {{"outcome", "ok"}})
        .sample(tools.errors, {{"outcome", "error"}});
    text.counter("knell_tool_nudges_total", "Times that an agent was told that it is stuck.");
    for (std::size_t kind = 0; kind < nudge_kind_names.size(); ++kind) {
        for (std::size_t level = 0; level < nudge_level_names.size(); ++level) {
            text.sample(tools.nudges.at(kind).at(level), {{"kind", nudge_kind_names.at(kind)},
                                                          {"level", nudge_level_names.at(level)}});
        }
    }
    text.counter("knell_tool_denials_total", "Calls that an open circuit breaker refused.")
        .sample(tools.denials);
}

void put_record(MetricText& text, const NodeStatus& node) {
    // Numbered from 1 without holes, over all daemons of the store.
    text.counter("knell_events_total", "Events that were ever recorded.").sample(node.last_seq);
    text.gauge("knell_events_kept", "Events that can still be read.")
        .sample(node.first_seq == 0 ? 0 : node.last_seq - node.first_seq + 1);
    text.counter("knell_commits_total", "Transactions since the daemon came up.")
        .sample(node.journal.commits);
    text.counter("knell_commands_total", "Changes that were decided since the daemon came up.")
        .sample(node.journal.commands);
    text.counter("knell_commit_failures_total", "Transactions that the store refused since then.")
        .sample(node.journal.failures);
    text.gauge("knell_queue_length", "Calls that wait, by what for.")
        .sample(node.journal.queued, {{"queue", "writes"}})
        .sample(node.reads_queued, {{"queue", "reads"}});
    text.gauge("knell_queue_length_max", "Calls that may wait; then the answer is limit.")
        .sample(limits::queue_commands_max, {{"queue", "writes"}})
        .sample(limits::queue_reads_max, {{"queue", "reads"}});
    text.gauge("knell_store_bytes", "How long the store is.").sample(node.store.bytes);
    text.gauge("knell_store_schema", "The last migration that the store has run.")
        .sample(node.store.schema);
}

std::string_view kind_of(const HookReport& hook) {
    if (!hook.settings) return "absent";
    return hook.settings->is_webhook ? "webhook" : "hook";
}

/// One family: a value of each subscriber.
template <typename Value>
void put_each(MetricText& text, const HooksReport& hooks, Value value) {
    for (const auto& hook : hooks.hooks) {
        text.sample(value(hook), {{"name", hook.subscription.name}, {"kind", kind_of(hook)}});
    }
}

void put_deliveries(MetricText& text, const HooksReport& hooks) {
    text.counter("knell_deliveries_total", "Events that a hook or webhook took.");
    put_each(text, hooks, [](const HookReport& hook) { return hook.subscription.delivered; });
    text.counter("knell_delivery_failures_total", "Attempts to deliver that failed.");
    put_each(text, hooks, [](const HookReport& hook) { return hook.subscription.failures; });
    text.counter("knell_deliveries_lost_total", "Events that were no longer kept in their turn.");
    put_each(text, hooks, [](const HookReport& hook) { return hook.subscription.lost; });
    text.gauge("knell_deliveries_under_way", "Attempts that are being made.");
    put_each(text, hooks, [](const HookReport& hook) { return hook.under_way; });
    text.gauge("knell_delivery_lag_events", "Events behind what a hook or webhook is done with.");
    put_each(text, hooks, [](const HookReport& hook) { return hook.lag; });
    text.gauge("knell_letters", "Events that could not be delivered yet, or were given up.");
    for (const auto& hook : hooks.hooks) {
        const auto& name = hook.subscription.name;
        text.sample(hook.waiting, {{"name", name}, {"kind", kind_of(hook)}, {"state", "waiting"}});
        text.sample(hook.dead, {{"name", name}, {"kind", kind_of(hook)}, {"state", "dead"}});
    }
    text.gauge("knell_subscriber_state", "Always 1; the state of a hook or webhook is a label.");
    for (const auto& hook : hooks.hooks) {
        text.sample(
            1, {{"name", hook.subscription.name}, {"kind", kind_of(hook)}, {"state", hook.state}});
    }
}

}  // namespace

std::string metrics(const NodeStatus& node, const HooksReport& hooks) {
    MetricText text;
    put_process(text, node);
    put_clients(text, node);
    put_sessions(text, node);
    put_background(text, node.processes);
    put_leases(text, node.leases);
    put_tools(text, node.tools);
    put_record(text, node);
    put_deliveries(text, hooks);
    return text.take();
}

}  // namespace knell::rpc
