// session.why: verdict and evidence, every transition with cause and time, what would end the
// session and when, and what is the matter with its reset.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/limits.hpp"
#include "engine/refusals.hpp"
#include "rpc/method_table.hpp"
#include "rpc/methods/process_row.hpp"
#include "rpc/methods/reset_row.hpp"
#include "rpc/methods/tool_row.hpp"
#include "watch/process_check.hpp"
#include "wire/session_fields.hpp"
#include "wire/session_json.hpp"

namespace knell::rpc {

namespace {

using namespace wire::fields;

constexpr std::array why_params{
    session_param,
    Field{.name = "after",
          .type = integer,
          .max = unbounded,
          .standard = 0,
          .about = "only transitions after this event: `next` of the page before"},
};
constexpr std::array transition_fields{
    always("time", time, "when"),
    always("generation", integer, "of the session"),
    always_one_of<EventType>("event", "what happened"),
    only("there is one to tell", "cause", text, "why"),
    only("it ended", "evidence", text, "what was seen, or who said so"),
};
constexpr std::array cause_fields{
    always("cause", text, "what would end it"),
    only("it falls due by itself", "due_in_s", number, "in so many seconds"),
};
constexpr std::array verdicts{std::string_view{"alive"}, std::string_view{"dead"},
                              std::string_view{"unknown"}};
constexpr std::array why_result{
    with_object(always("session", object, "with all its facts"), "session", session_fields),
    Field{.name = "verdict",
          .type = choice,
          .required = true,
          .choices = verdicts,
          .about = "of its owner"},
    always("evidence", text, "what that rests on"),
    always_objects("transitions", transition_fields, "all that happened to it, oldest first"),
    next_after,
    always_objects("would_end", cause_fields, "what would end it; empty once it has ended"),
    with_object(only("it is open and has a key", "reset", object, "when it is reset, and why"), "",
                reset_rows::reset_fields),
    Field{.name = "reset_explained",
          .type = array,
          .items = text,
          .when = "it is open and has a key",
          .about = "the same in words, a sentence each"},
    Field{.name = "guard",
          .type = object,
          .fields = tool_rows::guard_fields,
          .when = "it is open and calls of its tools were reported",
          .about = "what is known of these calls, and whether its agent is stuck"},
    with_object(always("processes", array, "its background processes that run, at most 64 of them"),
                "process", process_fields),
};

struct Verdict {
    std::string_view word;
    std::string evidence;
};

/// Of an owner whose end was told but could not be written nobody keeps a watch: it is looked at.
bool is_gone(const Session& session, const std::string& watched, const Backend& backend) {
    if (session.owner.kind != OwnerKind::process || !watched.empty()) return false;
    return std::holds_alternative<Gone>(look_for(session.owner.process, backend.processes()));
}

using Processes = std::vector<ProcessOnRecord>;
constexpr std::size_t processes_told_max = 64;
constexpr std::size_t processes_named_max = 3;  // in a sentence

/// Which of them keep their session, in words.
std::string background_evidence(const Processes& processes, WallTime since, WallTime now) {
    std::vector<std::string> named;
    std::size_t counting = 0;
    for (const auto& [process, session] : processes) {
        if (!counts_as_work(process, now) || ++counting > processes_named_max) continue;
        named.push_back(fmt::format("{} ({})", process.id.text(),
                                    command_text(process.argv, limits::owner_command_bytes_max)));
    }
    auto text = fmt::format("background work counts since {}", format_rfc3339(since));
    if (!named.empty()) text += fmt::format(": {}", fmt::join(named, ", "));
    if (counting > named.size()) text += fmt::format(" and {} more", counting - named.size());
    return text;
}

std::string hosted_evidence(const Session& session, const Processes& processes, WallTime seen,
                            WallTime now) {
    auto evidence = std::string("the daemon keeps it: ");
    if (session.attached > 0)
        return evidence + fmt::format("{} clients look at it", session.attached);
    if (session.turn_since) {
        return evidence + fmt::format("a turn is on since {}", format_rfc3339(*session.turn_since));
    }
    if (session.background_since) {
        return evidence + background_evidence(processes, *session.background_since, now);
    }
    // A client, a turn, background work or a call that named it: whichever was last.
    return evidence + fmt::format(
                          "no client looks at it, no turn is on and no background work counts; "
                          "nothing has used it since {}",
                          format_rfc3339(seen));
}

struct Seen {
    const InspectReply& live;
    const std::string& watched;
    const Processes& processes;
    bool is_gone = false;
    WallTime now;
};

Verdict judge(const Session& session, const Seen& what) {
    const auto& live = what.live;
    const auto& watched = what.watched;
    if (session.end) return {"dead", session.end->evidence};
    const auto& owner = session.owner;
    if (live.departed) return {"dead", live.departed->evidence + "; its end is being recorded"};
    if (session.unknown_since) {
        return {"unknown",
                fmt::format("its owner cannot be checked since {}; nothing is ended on that",
                            format_rfc3339(*session.unknown_since))};
    }
    if (session.parked_since) {
        return {"unknown", fmt::format("its owner is gone since {}{}{}{}; it waits to be claimed",
                                       format_rfc3339(*session.parked_since),
                                       session.park_why.empty() ? "" : " (", session.park_why,
                                       session.park_why.empty() ? "" : ")")};
    }
    if (what.is_gone) {
        return {"dead", fmt::format("process {} (start ticks {}) is gone; its end is not recorded "
                                    "yet: `knell status` says whether the store takes writes",
                                    owner.process.pid, owner.process.start_ticks)};
    }
    if (owner.kind == OwnerKind::process) {
        return {"alive", fmt::format("process {} (start ticks {}) is {}", owner.process.pid,
                                     owner.process.start_ticks,
                                     watched.empty() ? "there, but not watched yet" : watched)};
    }
    const auto seen = live.last_seen_at.value_or(session.last_seen_at);
    if (owner.kind == OwnerKind::hosted) {
        return {"alive", hosted_evidence(session, what.processes, seen, what.now)};
    }
    auto evidence = fmt::format("its lease of {} s was renewed at {}", owner.lease_ttl.count(),
                                format_rfc3339(seen));
    if (owner.process.pid != 0) {
        evidence += fmt::format(
            "; it stands for process {} of pid namespace {}, which cannot be seen from here, and "
            "is renewed while that one lives by {}",
            owner.process.pid, owner.process.pid_namespace,
            session.leftovers == LeftoversPolicy::none ? "who opened the session"
                                                       : "its `knell run`");
    }
    return {"alive", std::move(evidence)};
}

JsonObject cause(std::string_view what, const InspectReply& live, bool timed) {
    JsonObject object;
    object["cause"] = what;
    if (timed && live.due_in) object["due_in_s"] = static_cast<double>(live.due_in->count()) / 1000;
    return object;
}

/// What would end it, and when as far as that can be said.
JsonArray would_end(const Session& session, const InspectReply& live,
                    const std::optional<ResetView>& reset, WallTime now) {
    JsonArray causes;
    if (session.end) return causes;
    causes.push_back(cause("session.close, by its owner or by a person (knell end)", live, false));
    if (session.parked_since) {
        causes.push_back(cause("nobody claims it before its park window is over", live, true));
    } else if (session.owner.kind == OwnerKind::lease) {
        causes.push_back(cause("its lease is not renewed in time", live, true));
    } else if (session.owner.kind == OwnerKind::hosted) {
        causes.push_back(
            cause("nothing holds it, and no call names it, for its detach window", live, true));
    } else if (session.unknown_since) {
        causes.push_back(cause("new evidence about its owner", live, false));
    } else {
        causes.push_back(
            cause(fmt::format("process {} ends", session.owner.process.pid), live, false));
        if (session.owner.lease_ttl.count() > 0) {
            causes.push_back(cause("a missed renewal only marks it stalled", live, true));
        }
    }
    if (reset) {
        if (auto policy = render_cause(*reset, now)) causes.push_back(std::move(*policy));
    }
    causes.push_back(cause("session.resume with takeover, as superseded", live, false));
    return causes;
}

std::string describe(const Event& event) {
    if (event.end) {
        return fmt::format("{} ({}){}{}", name_of(event.end->reason),
                           name_in(proof_names, event.end->proof),
                           event.end->detail.empty() ? "" : ": ", event.end->detail);
    }
    return event.detail;
}

JsonArray transitions(const std::vector<Event>& events) {
    JsonArray array;
    for (const auto& event : events) {
        JsonObject object;
        object["time"] = format_rfc3339(event.time);
        object["generation"] = event.generation;
        object["event"] = name_in(event_type_names, event.type);
        if (const auto text = describe(event); !text.empty()) object["cause"] = text;
        if (event.end) object["evidence"] = event.end->evidence;
        array.push_back(std::move(object));
    }
    return array;
}

Result<Json> explain(const SessionId& id, Seq after, const InspectReply& live, Backend& backend,
                     Reader& reader) {
    const auto session = reader.find(id);
    if (!session) return std::unexpected(session.error());
    if (!*session) return std::unexpected(not_found(id));
    const auto events = reader.events({.after = after,
                                       .limit = limits::events_page_max,
                                       .types = {},
                                       .session_id = id,
                                       .bytes_max = limits::page_bytes_max});
    if (!events) return std::unexpected(events.error());
    const auto& owner = (*session)->owner.process;
    const auto watched = backend.how_watched(owner);
    const auto processes = running_processes(id, processes_told_max, reader, backend);
    if (!processes) return std::unexpected(processes.error());
    const auto now = backend.wall_time();
    const auto verdict = judge(**session, {.live = live,
                                           .watched = watched,
                                           .processes = *processes,
                                           .is_gone = is_gone(**session, watched, backend),
                                           .now = now});
    note_named(**session, backend);
    JsonObject result;
    result["session"] = wire::to_json(**session);
    result["verdict"] = verdict.word;
    result["evidence"] = verdict.evidence;
    result["transitions"] = transitions(events->events);
    if (events->next < events->newest) result["next"] = events->next;
    const auto reset = view_reset(**session, live, *backend.reset_policies());
    result["would_end"] = would_end(**session, live, reset, now);
    if (reset) {
        const auto words = explain_reset(**session, *reset, now);
        result["reset"] = render_reset(*reset, now);
        result["reset_explained"] = JsonArray(words.begin(), words.end());
    }
    if (auto guard = render_guard(live)) result["guard"] = std::move(*guard);
    JsonArray rows;
    for (const auto& row : *processes) {
        rows.push_back(render_process(row, /*task_id=*/{}, now, backend));
    }
    result["processes"] = std::move(rows);
    return result;
}

void why(Call&& call, Backend& backend) {
    auto given = given_of<why_params>(call);
    auto id = given.get<"session_id">();
    const auto after = given.get<"after">();
    if (given.error()) return call.respond(given.failure());
    backend.ask(
        Inspect{id}, [id, after, asker = call.caller.connection, respond = std::move(call.respond),
                      &backend](Result<Reply> reply) mutable {
            if (!reply) return respond(std::unexpected(std::move(reply.error())));
            backend.read(
                asker,
                [id, after, live = std::get<InspectReply>(*reply), &backend](Reader& reader) {
                    return explain(id, after, live, backend, reader);
                },
                std::move(respond));
        });
}

constexpr std::array family{
    Method{"session.why", "why a session is as it is", why_params, why_result, why,
           /*is_ordered=*/false, Access::read_only},
};

}  // namespace

std::span<const Method> session_why_methods() {
    return family;
}

}  // namespace knell::rpc
