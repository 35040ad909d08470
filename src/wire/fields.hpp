#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/event.hpp"
#include "core/limits.hpp"
#include "core/session.hpp"
#include "wire/process_json.hpp"

/// The fields of the client contract that go out in more than one form: as an object, to be looked
/// into, and straight as text, for feeds.  Listed once, so that the forms cannot come apart.
///
/// A Sink has `text` and `leftovers`, which leave out what is empty, `number`, `flag`, `time`,
/// `words`, `json`, which leaves out what is none, `object`, which hands the sink of an object
/// inside to whoever lists its fields, and `objects`, which does so for each of several and leaves
/// out none.
namespace knell::wire {

template <typename Sink>
void list_fields(Sink& sink, const End& end) {
    sink.time("ended_at", end.ended_at);
    sink.time("ended_after", end.ended_after);
    sink.time("ended_before", end.ended_before);
    sink.text("reason", name_of(end.reason));
    sink.text("proof", name_in(proof_names, end.proof));
    sink.text("detail", end.detail);
    sink.text("evidence", end.evidence);
    sink.leftovers("leftovers", end.leftovers);
}

template <typename Sink>
void list_fields(Sink& sink, const Tally& tally) {
    sink.number("message_count", tally.messages);
    sink.number("input_tokens", tally.input_tokens);
    sink.number("output_tokens", tally.output_tokens);
}

template <typename Sink>
void list_fields(Sink& sink, const Owner& owner) {
    const auto& process = owner.process;
    sink.text("kind", name_in(owner_kind_names, owner.kind));
    if (owner.kind == OwnerKind::process) sink.number("pid", process.pid);
    if (owner.lease_ttl.count() > 0) {
        const bool is_hosted = owner.kind == OwnerKind::hosted;
        sink.number(is_hosted ? "window_s" : "lease_ttl_s", owner.lease_ttl.count());
    }
    if (owner.kind == OwnerKind::lease && process.pid != 0) {
        sink.object("stands_for", [&process](auto& inner) {
            inner.number("pid", process.pid);
            inner.number("pid_namespace", static_cast<std::int64_t>(process.pid_namespace));
        });
    }
    sink.text("host", owner.host);
    sink.text("command", owner.command);
    sink.time("since", owner.since);
}

template <typename Sink>
void list_fields(Sink& sink, const Session& session) {
    const auto since = [&sink](std::string_view name, const std::optional<WallTime>& time) {
        if (time) sink.time(name, *time);
    };
    sink.text("id", session.id.text());
    sink.text("key", session.key);
    sink.text("source", session.source);
    sink.text("platform", session.platform);
    sink.text("user_id", session.user_id);
    sink.text("chat_type", session.chat_type);
    sink.text("parent_id", session.parent_id.text());
    sink.text("relation", name_in(relation_names, session.relation));
    sink.number("generation", session.generation);
    sink.text("status", name_in(status_names, status_of(session)));
    sink.text("model", session.model);
    sink.text("title", session.title);
    sink.text("cwd", session.cwd);
    sink.time("started_at", session.started_at);
    sink.time("last_activity_at", session.last_activity_at);
    sink.time("last_interaction_at", session.last_interaction_at);
    if (session.end) list_fields(sink, *session.end);
    list_fields(sink, session.tally);
    sink.object("owner", [&session](auto& inner) { list_fields(inner, session.owner); });
    sink.text("on_owner_loss", name_in(on_owner_loss_names, session.on_owner_loss));
    if (session.park_window.count() > 0) sink.number("park_s", session.park_window.count());
    if (!session.end) sink.time("last_seen_at", session.last_seen_at);
    since("unknown_since", session.unknown_since);
    since("stalled_since", session.stalled_since);
    since("parked_since", session.parked_since);
    since("parked_before", session.parked_before);
    sink.text("park_why", session.park_why);
    sink.number("attached", session.attached);
    since("detached_since", session.detached_since);
    sink.flag("turn", session.turn_since.has_value());
    since("turn_since", session.turn_since);
    since("background_since", session.background_since);
    sink.flag("pinned", session.pinned);
    if (session.key_taken) sink.flag("key_taken", true);
    if (session.suspended_at) {
        sink.object("suspended", [&session](auto& inner) {
            inner.time("since", *session.suspended_at);
            inner.text("why", session.suspend_why);
        });
    }
    since("reset_held_since", session.reset_held_since);
    if (session.summary_lost) sink.flag("summary_lost", true);
    if (!session.meta.empty()) sink.json("meta", session.meta);
}

template <typename Sink>
void list_fields(Sink& sink, const ProcessExit& exit) {
    sink.text("kind", name_in(exit_kind_names, exit.kind));
    if (exit.kind == ExitKind::exited) sink.number("code", exit.number);
    const bool by_signal = exit.kind == ExitKind::signaled || exit.kind == ExitKind::oom_killed;
    if (by_signal && exit.number != 0) sink.number("signal", exit.number);
    sink.time("at", exit.at);
    sink.time("after", exit.after);
    sink.time("before", exit.before);
    sink.text("evidence", exit.evidence);
}

/// What it did last is of no use once it has ended.
template <typename Sink>
void list_activity(Sink& sink, const BackgroundProcess& process) {
    const auto& exit = process.exit;
    const auto& facts = process.activity;
    sink.text("activity",
              name_in(process_activity_names, exit ? ProcessActivity::exited : facts.activity));
    sink.time("activity_since", exit ? exit->at : facts.since);
    sink.text("evidence", exit ? exit->evidence : facts.evidence);
}

template <typename Sink>
void list_stop(Sink& sink, const BackgroundProcess& process, const std::optional<StopState>& stop) {
    if (process.stop_asked_at) {
        sink.time("stop_asked_at", *process.stop_asked_at);
        sink.text("stop_asked_by", process.stop_asked_by);
    }
    if (stop) sink.flag("stopping", stop->is_stopping);
    if (stop && stop->is_stopping) return;
    if (!process.stop_asked_at && !process.stop_asked_by.empty()) {
        sink.text("stop_failed", process.stop_asked_by);
    } else if (stop) {
        // Not on record yet; or it has ended itself, and what it started is left.
        sink.text("stop_failed", stop->left);
    }
}

template <typename Sink>
void list_fields(Sink& sink, const BackgroundProcess& process, const ProcessView& view) {
    sink.text("process_id", process.id.text());
    sink.text("session_id", process.session_id.text());
    sink.number("generation", process.generation);
    sink.text("task_id", process.task_id);
    sink.text("scope", name_in(process_scope_names, view.scope));
    sink.text("session", name_in(session_state_names, view.session));
    sink.text("origin", name_in(process_origin_names, process.origin));
    sink.number("pid", process.process.pid);
    sink.text("command", command_text(process.argv, limits::leftover_command_bytes_max));
    sink.words("argv", process.argv);
    sink.text("cwd", process.cwd);
    sink.text("title", process.title);
    sink.time("started_at", process.started_at);
    sink.text("state", name_in(process_state_names,
                               process.exit ? ProcessState::exited : ProcessState::running));
    list_activity(sink, process);
    sink.flag("counts", counts_as_work(process, view.now));
    if (process.stale_since) sink.time("stale_since", *process.stale_since);
    if (process.vouched_until) sink.time("vouched_until", *process.vouched_until);
    list_stop(sink, process, view.stop);
    if (process.exit) {
        sink.object("exit", [&process](auto& inner) { list_fields(inner, *process.exit); });
    }
}

template <typename Sink>
void list_fields(Sink& sink, const Blocker& blocker) {
    sink.text("process_id", blocker.process_id.text());
    sink.number("pid", blocker.pid);
    sink.text("command", blocker.command);
    sink.time("started_at", blocker.started_at);
    sink.text("activity", name_in(process_activity_names, blocker.activity));
    if (blocker.vouched_until) sink.time("vouched_until", *blocker.vouched_until);
    if (blocker.until) sink.time("until", *blocker.until);
}

/// They hold a reset back, or ran on after one.
template <typename Sink>
void list_blockers(Sink& sink, const Event& event) {
    const bool ran_on = event.type == EventType::notice;
    sink.objects(ran_on ? "processes" : "blockers", event.blockers,
                 [](auto& inner, const Blocker& blocker) { list_fields(inner, blocker); });
}

template <typename Sink>
void list_fields(Sink& sink, const Compression& compression) {
    sink.text("outcome", name_in(compress_outcome_names, compression.outcome));
    sink.text("child_id", compression.child.text());
    sink.text("provider", compression.provider);
}

template <typename Sink>
void list_fields(Sink& sink, const Stuck& stuck) {
    sink.text("level", name_in(nudge_level_names, stuck.level));
    sink.text("kind", name_in(nudge_kind_names, stuck.kind));
    sink.number("streak", stuck.streak);
    sink.text("tool", stuck.tool);
    sink.text("other_tool", stuck.other_tool);
    sink.text("error", stuck.error);
}

/// As it was when the event happened.
inline ProcessView view_of(const Event& event) {
    return {.now = event.time,
            .session = event.after_end ? SessionState::ended : SessionState::open,
            .scope = scope_of(*event.process, /*task_id=*/{})};
}

template <typename Sink>
void list_fields(Sink& sink, const Event& event, std::string_view node_id) {
    sink.number("seq", event.seq);
    sink.text("id", event_id(event, node_id));
    sink.text("type", name_in(event_type_names, event.type));
    sink.time("time", event.time);
    if (event.session_id.empty()) {
        list_blockers(sink, event);
        sink.text("detail", event.detail);
        return;
    }
    sink.text("session_id", event.session_id.text());
    sink.text("session_key", event.session_key);
    sink.number("generation", event.generation);
    sink.text("platform", event.platform);
    sink.text("user_id", event.user_id);
    sink.text("source", event.source);
    sink.text("parent_id", event.parent_id.text());
    sink.text("relation", name_in(relation_names, event.relation));
    sink.text("title", event.title);
    sink.text("cwd", event.cwd);
    sink.text("command", event.command);
    if (event.pid != 0) sink.number("pid", event.pid);
    sink.text("host", event.host);
    sink.time("started_at", event.started_at);
    if (event.process) {
        sink.object("process",
                    [&event](auto& inner) { list_fields(inner, *event.process, view_of(event)); });
    }
    list_blockers(sink, event);
    if (event.compression) list_fields(sink, *event.compression);
    if (event.stuck) list_fields(sink, *event.stuck);
    if (event.end) {
        list_fields(sink, *event.end);
        list_fields(sink, event.tally);
    } else if (event.labels) {
        sink.flag("pinned", event.labels->pinned);
    } else {
        sink.text("detail", event.detail);
    }
}

}  // namespace knell::wire
