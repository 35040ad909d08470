#include "rpc/methods/reset_row.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "rpc/methods/process_row.hpp"
#include "wire/session_json.hpp"

namespace knell::rpc {

namespace {

using namespace std::chrono_literals;

Blocker blocker_of(const BackgroundProcess& process, const ResetPolicy& policy, WallTime now) {
    Blocker blocker{.process_id = process.id,
                    .pid = process.process.pid,
                    .command = command_text(process.argv, limits::leftover_command_bytes_max),
                    .started_at = process.started_at,
                    .activity = process.activity.activity,
                    .vouched_until = process.vouched_until,
                    .until = {}};
    const auto hold = [&blocker, now](WallTime until) {
        if (until > now) blocker.until = std::max(blocker.until.value_or(until), until);
    };
    if (process.vouched_until) hold(*process.vouched_until);
    if (blocker.activity == ProcessActivity::working) {
        hold(process.started_at + policy.process_max_age);
    }
    return blocker;
}

// --- words --------------------------------------------------------------------------------------

/// "90 min", "24 h", "5 d".
std::string length_text(std::chrono::seconds length) {
    if (length >= 48h) return fmt::format("{} d", length / 24h);
    if (length >= 1h && length % 1h == 0s) return fmt::format("{} h", length / 1h);
    if (length >= 1min) return fmt::format("{} min", length / 1min);
    return fmt::format("{} s", length.count());
}

std::string mode_text(const ResetPolicy& policy) {
    const auto idle =
        fmt::format("after {} in which nobody says anything", length_text(policy.idle));
    const auto daily = fmt::format("every day at {:02}:{:02} ({})", policy.at / 1h,
                                   policy.at % 1h / 1min, policy.zone.name());
    switch (policy.mode) {
        case ResetMode::none:
            return "it is never reset by itself (mode none)";
        case ResetMode::idle:
            return fmt::format("it is reset {} (mode idle)", idle);
        case ResetMode::daily:
            return fmt::format("it is reset {} (mode daily)", daily);
        case ResetMode::both:
            return fmt::format("it is reset {}, and {} (mode both)", idle, daily);
    }
    return {};
}

std::string on_reset_text(OnReset act) {
    switch (act) {
        case OnReset::keep:
            return "its background processes are then handed to the session that follows "
                   "(on_reset keep)";
        case OnReset::warn:
            return "its background processes then run on, and a notice names them (on_reset warn)";
        case OnReset::stop:
            return "its background processes are then stopped (on_reset stop)";
    }
    return {};
}

std::string due_text(const ResetView& view, WallTime now) {
    const auto& next = *view.next;
    const auto by = name_in(reset_kind_names, next.kind);
    const auto said = format_rfc3339(view.last_interaction);
    if (next.at > now) {
        return fmt::format(
            "the next reset is at {} ({}), if nobody says anything until then; "
            "somebody last did at {}",
            format_rfc3339(next.at), by, said);
    }
    auto text = fmt::format("its reset is due since {} ({}): nobody has said anything since {}",
                            format_rfc3339(next.at), by, said);
    if (view.turn_since) {
        text += fmt::format("; it waits until the turn that is on since {} has ended",
                            format_rfc3339(*view.turn_since));
    }
    return text;
}

std::string blocker_text(const Blocker& blocker, WallTime now) {
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - blocker.started_at);
    auto text = fmt::format("{} (pid {}, {} old, {}", blocker.process_id.text(), blocker.pid,
                            length_text(std::max(age, 0s)),
                            name_in(process_activity_names, blocker.activity));
    if (blocker.vouched_until && *blocker.vouched_until > now) {
        text += fmt::format(", vouched for until {}", format_rfc3339(*blocker.vouched_until));
    }
    text += blocker.until ? fmt::format(") can hold it until {}", format_rfc3339(*blocker.until))
                          : std::string(") held it, and no longer can");
    if (!blocker.command.empty()) text += fmt::format(": {}", blocker.command);
    return text;
}

}  // namespace

std::optional<ResetView> view_reset(const Session& session, const ResetPolicies& policies) {
    if (session.end || session.key.empty()) return std::nullopt;
    ResetView view{.policy = policies.of({.source = session.source,
                                          .platform = session.platform,
                                          .chat_type = session.chat_type,
                                          .key = session.key}),
                   .next = {},
                   .last_interaction = session.last_interaction_at,
                   .turn_since = session.turn_since,
                   .held = {}};
    view.next = next_reset(view.policy, view.last_interaction);
    // Where nobody has written any down.
    if (view.policy.name.empty()) view.policy.name = "session_reset";
    return view;
}

std::optional<ResetView> view_reset(Session session, const InspectReply& live,
                                    const ResetPolicies& policies) {
    if (live.last_interaction_at) session.last_interaction_at = *live.last_interaction_at;
    auto view = view_reset(session, policies);
    if (view) view->held = live.held;
    return view;
}

Result<std::optional<HeldReset>> read_held(const Session& session, const ResetPolicy& policy,
                                           Reader& reader, const Backend& backend) {
    if (!session.reset_held_since) return std::nullopt;
    HeldReset held{.since = *session.reset_held_since, .until = {}, .blockers = {}};
    const auto now = backend.wall_time();
    for (const auto& id : session.reset_held_by) {
        auto row = reader.process(id);
        if (!row) return std::unexpected(std::move(row.error()));
        if (!*row || (*row)->process.exit) continue;
        freshen((*row)->process, backend);
        held.blockers.push_back(blocker_of((*row)->process, policy, now));
        if (const auto& until = held.blockers.back().until) {
            held.until = std::max(held.until.value_or(*until), *until);
        }
    }
    return held;
}

JsonObject render_held(const HeldReset& held) {
    JsonObject object{{"since", format_rfc3339(held.since)}};
    if (held.until) object["until"] = format_rfc3339(*held.until);
    object["blockers"] = wire::to_json(held.blockers);
    return object;
}

JsonObject render_reset(const ResetView& view, WallTime now) {
    JsonObject object{{"policy", view.policy.name},
                      {"mode", name_in(reset_mode_names, view.policy.mode)}};
    if (view.next) {
        object["next_reset_at"] = format_rfc3339(view.next->at);
        object["kind"] = name_in(reset_kind_names, view.next->kind);
    }
    object["on_reset"] = name_in(on_reset_names, view.policy.on_reset);
    if (view.waits_for_turn(now)) {
        object["waits_for_turn_since"] = format_rfc3339(*view.turn_since);
    }
    if (view.held) object["held"] = render_held(*view.held);
    return object;
}

std::optional<JsonObject> render_cause(const ResetView& view, WallTime now) {
    if (!view.next) return std::nullopt;
    const bool waits = view.waits_for_turn(now);
    JsonObject object{{"cause", fmt::format("its reset policy ({}, {}){}", view.policy.name,
                                            name_in(reset_kind_names, view.next->kind),
                                            waits ? ", when the turn that is on has ended" : "")}};
    const std::chrono::duration<double> left = view.next->at - now;
    if (!view.held && !waits) object["due_in_s"] = std::max(0.0, left.count());
    return object;
}

std::vector<std::string> explain_reset(const Session& session, const ResetView& view,
                                       WallTime now) {
    std::vector<std::string> words;
    words.push_back(fmt::format("{} holds for it: {}", view.policy.name, mode_text(view.policy)));
    if (view.next) {
        words.push_back(due_text(view, now));
        words.push_back(on_reset_text(view.policy.on_reset));
    }
    if (view.held) {
        words.push_back(fmt::format(
            "background work holds its reset back since {}{}", format_rfc3339(view.held->since),
            view.held->until ? fmt::format(", until {} at the latest as things are",
                                           format_rfc3339(*view.held->until))
                             : std::string{}));
        for (const auto& blocker : view.held->blockers) {
            words.push_back(blocker_text(blocker, now));
        }
    }
    if (session.key_taken) {
        words.emplace_back(
            "a newer session has its key, for good: messages for the key do not come here");
    }
    if (session.suspended_at) {
        words.push_back(fmt::format(
            "it is suspended since {}{}: the next message begins a new conversation",
            format_rfc3339(*session.suspended_at),
            session.suspend_why.empty() ? "" : fmt::format(" ({})", session.suspend_why)));
    }
    return words;
}

}  // namespace knell::rpc
