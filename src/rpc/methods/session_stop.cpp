// session.stop and session.adopt: the process of a session is ended, or becomes one.

#include "rpc/methods/session_stop.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/limits.hpp"
#include "rpc/change.hpp"
#include "rpc/owner_stopping.hpp"
#include "rpc/process_params.hpp"
#include "rpc/session_params.hpp"

namespace knell::rpc {

namespace {

using namespace session_rows;

// --- session.stop -------------------------------------------------------------------------------

constexpr std::array stop_params{
    session_param,
    Field{.name = "generation",
          .type = integer,
          .min = 1,
          .max = UINT32_MAX,
          .about = "refuse as fenced unless this one is open"},
    Field{.name = "detail",
          .type = text,
          .max = limits::word_bytes_max,
          .about = "what it ends after, for the record; default: session.stop"},
    Field{.name = "dry_run",
          .type = boolean,
          .standard = 0,
          .about = "only say what would be stopped"},
};
constexpr std::array stopped_process_fields{
    always("pid", integer, "as the daemon counts"),
    only("given", "command", text, "what runs"),
    Field{.name = "fate",
          .type = choice,
          .choices = names_of<Fate>,
          .when = "it was to be stopped",
          .about = "what became of it: gone, stopped or killed"},
};
constexpr std::array stop_result{
    always("session_id", id, "the session"),
    always("generation", integer, "that was open, or had ended"),
    always("already_ended", boolean, "true when it had ended before; nothing was done"),
    with_object(only("a process keeps it", "process", object,
                     "that process; the session ends by "
                     "its end, a moment later"),
                "", stopped_process_fields),
    only("it has ended", "reason", word, "why"),
    only("it has ended", "ended_at", time, "when"),
};

struct Stop {
    SessionId session_id;
    std::optional<Generation> generation;
    std::string what;
    std::string said_by;
    bool dry_run = false;
    Respond respond;
};

JsonObject begin_result(const Session& session) {
    return {{"session_id", session.id.text()},
            {"generation", session.generation},
            {"already_ended", session.end.has_value()}};
}

JsonObject render_ended(const Session& session) {
    auto result = begin_result(session);
    result["reason"] = name_of(session.end->reason);
    result["ended_at"] = format_rfc3339(session.end->ended_at);
    return result;
}

JsonObject render_process(const Session& session, Fate fate) {
    auto result = begin_result(session);
    JsonObject process{{"pid", session.owner.process.pid}};
    if (!session.owner.command.empty()) process["command"] = session.owner.command;
    if (fate != Fate::unknown) process["fate"] = name_in(fate_names, fate);
    result["process"] = std::move(process);
    return result;
}

/// A process by its number and what it runs: "process 4242 (claude)".
std::string name_of_process(const Owner& owner) {
    const auto pid = owner.process.pid;
    return owner.command.empty() ? fmt::format("process {}", pid)
                                 : fmt::format("process {} ({})", pid, owner.command);
}

Result<wire::Rendered> render(const Session& session, const OwnerStop& stop) {
    const auto name = name_of_process(session.owner);
    const auto& id = session.id.text();
    if (stop.sessions == 0) {
        return fail(ErrorCode::owned,
                    fmt::format("{} is not the owner of session {} any more; nothing was stopped, "
                                "look again: knell show {}",
                                name, id, id));
    }
    if (stop.sessions > 1) {
        return fail(ErrorCode::blocked,
                    fmt::format("{} keeps {} open sessions, and all of them would end with it; "
                                "nothing was stopped. To end the record of this one alone: knell "
                                "end {}",
                                name, stop.sessions, id));
    }
    if (stop.fate == Fate::left) {
        return fail(ErrorCode::blocked,
                    fmt::format("{} of session {} was left running: {}", name, id, stop.why_left));
    }
    return render_process(session, stop.fate);
}

/// No process is known here that could be stopped: what there is to end is the record.
void close_record(Stop&& stop, Session&& session, Backend& backend) {
    if (stop.dry_run) return stop.respond(begin_result(session));
    Close close;
    close.session_id = session.id;
    close.generation = session.generation;
    close.detail = std::move(stop.what);
    close.said_by = std::move(stop.said_by);
    submit(Result<Close>(std::move(close)), std::move(stop.respond), backend,
           [](const ClosedReply& reply) {
               return JsonObject{{"session_id", reply.session_id.text()},
                                 {"generation", reply.generation},
                                 {"already_ended", reply.already_ended},
                                 {"reason", name_of(reply.end.reason)},
                                 {"ended_at", format_rfc3339(reply.end.ended_at)}};
           });
}

void stop_process(Stop&& stop, Session&& session, Backend& backend) {
    if (backend.processes().is_knell(session.owner.process.pid)) {
        return stop.respond(fail(
            ErrorCode::blocked,
            fmt::format("process {} of session {} is a knell itself, which is not stopped this "
                        "way; to end the record alone: knell end {}",
                        session.owner.process.pid, session.id.text(), session.id.text())));
    }
    auto* stopping = dynamic_cast<OwnerStopping*>(&backend);
    if (stopping == nullptr) {
        return stop.respond(fail(ErrorCode::blocked, "nobody here stops processes"));
    }
    StopOwner request{.session_id = session.id,
                      .process = session.owner.process,
                      .what = std::move(stop.what),
                      .said_by = std::move(stop.said_by),
                      .only_asks = stop.dry_run};
    stopping->stop_owner(std::move(request),
                         [session = std::move(session),
                          respond = std::move(stop.respond)](Result<OwnerStop> stopped) mutable {
                             if (!stopped)
                                 return respond(std::unexpected(std::move(stopped.error())));
                             respond(render(session, *stopped));
                         });
}

void stop_found(Stop&& stop, Session&& session, Backend& backend) {
    if (stop.generation && *stop.generation != session.generation) {
        return stop.respond(std::unexpected(
            Error{ErrorCode::fenced,
                  fmt::format("session {} is at generation {}, not {}; nothing was stopped",
                              session.id.text(), session.generation, *stop.generation),
                  "generation", FencedBy{session.generation}}));
    }
    if (session.end) return stop.respond(render_ended(session));
    const auto& owner = session.owner;
    if (owner.kind == OwnerKind::lease && owner.process.pid > 0) {
        return stop.respond(
            fail(ErrorCode::blocked,
                 fmt::format("the process of session {} is {} in a pid namespace that cannot be "
                             "seen from here; stop it where it runs, or end the record alone: "
                             "knell end {}",
                             session.id.text(), owner.process.pid, session.id.text())));
    }
    const bool has_process = owner.kind == OwnerKind::process && !session.parked_since;
    if (has_process) return stop_process(std::move(stop), std::move(session), backend);
    close_record(std::move(stop), std::move(session), backend);
}

void stop_now(Call&& call, Backend& backend) {
    auto given = given_of<stop_params>(call);
    auto stop = std::make_shared<Stop>();
    stop->session_id = given.get<"session_id">();
    if (const auto generation = given.get<"generation">()) {
        stop->generation = static_cast<Generation>(*generation);
    }
    stop->what = given.get<"detail">();
    if (stop->what.empty()) stop->what = "session.stop";
    stop->dry_run = given.get<"dry_run">();
    stop->said_by = call.caller.describe();
    if (given.error()) return call.respond(given.failure());
    stop->respond = std::move(call.respond);
    auto found = std::make_shared<Session>();
    backend.read(
        ConnectionId::none,
        [id = stop->session_id, found](Reader& reader) -> Result<Json> {
            auto row = reader.find(id);
            if (!row) return std::unexpected(std::move(row.error()));
            if (!*row) {
                return fail(
                    ErrorCode::not_found,
                    fmt::format("no session {}; `knell ls --all` lists what there is", id.text()));
            }
            *found = std::move(**row);
            return Json{};
        },
        [stop, found, &backend](Result<wire::Rendered> read) {
            if (!read) return stop->respond(std::unexpected(std::move(read.error())));
            stop_found(std::move(*stop), std::move(*found), backend);
        });
}

/// Not before the end of a process that has just died is told.
void stop(Call&& call, Backend& backend) {
    after_a_look(std::move(call), backend, stop_now);
}

// --- session.adopt ------------------------------------------------------------------------------

constexpr Field adopted_source_param = [] {
    auto row = source_param;
    row.required = false;
    row.about = "default: cli";
    return row;
}();
constexpr std::array adopt_params{
    Field{.name = "pid",
          .type = integer,
          .required = true,
          .min = 1,
          .max = INT32_MAX,
          .about = "a living process of the caller's user, as the caller counts"},
    Field{.name = "id", .type = id, .about = "default: a new UUIDv7"},
    key_param,
    adopted_source_param,
    Field{.name = "title",
          .type = text,
          .may_be_empty = true,
          .max = limits::title_bytes_max,
          .about = "for people; default: its command line"},
};

/// As much of a text as a field has room for.
std::string cut_to(std::string text, std::size_t bytes_max) {
    while (text.size() > bytes_max || (!text.empty() && !is_utf8(text))) text.pop_back();
    return text;
}

void adopt(Call&& call, Backend& backend) {
    auto given = given_of<adopt_params>(call);
    Create create;
    auto& draft = create.draft;
    draft.id = given.get<"id">();
    if (draft.id.empty()) {
        draft.id = backend.new_session_id();
        create.fresh_id = true;
    }
    draft.key = given.get<"key">();
    draft.source = given.get<"source">();
    if (draft.source.empty()) draft.source = "cli";
    draft.title = given.get<"title">();
    const auto pid = given.get_as<pid_t, "pid">();
    auto found = read_adopted(given, pid, call.caller, backend);
    if (given.error()) return call.respond(given.failure());
    const auto command = command_text(found.look.argv, limits::owner_command_bytes_max);
    draft.owner.host = backend.host();
    draft.owner.process = found.process;
    draft.owner.command = command;
    draft.cwd = cut_to(std::move(found.look.cwd), limits::cwd_bytes_max);
    if (draft.title.empty()) draft.title = cut_to(command, limits::title_bytes_max);
    submit(if_good(given, std::move(create)), std::move(call.respond), backend, render_opened);
}

constexpr std::array family{
    Method{"session.stop", "stop a session's process; the session ends by that", stop_params,
           stop_result, stop, /*is_ordered=*/false, Access::processes},
    Method{"session.adopt", "open a session for a process that runs already", adopt_params,
           opened_result, adopt, /*is_ordered=*/true},
};

}  // namespace

std::span<const Method> session_stop_methods() {
    return family;
}

}  // namespace knell::rpc
