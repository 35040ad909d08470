// process.start, register, stop and vouch: background processes and what is done about them.

#include <utility>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "rpc/change.hpp"
#include "rpc/method_table.hpp"
#include "rpc/methods/process_row.hpp"
#include "rpc/process_params.hpp"
#include "wire/process_json.hpp"

namespace knell::rpc {

namespace {

using namespace process_rows;

// --- process.start and process.register ---------------------------------------------------------

constexpr std::array start_params{
    session_param,
    task_param,
    Field{.name = "argv",
          .type = array,
          .required = true,
          .min = 1,
          .max = limits::process_words_max,
          .items = content,
          .unit = "word",
          .about = "the program and its arguments; no shell looks at them"},
    Field{.name = "cwd",
          .type = text,
          .max = limits::cwd_bytes_max,
          .about = "absolute path of the directory to start in; default: the session's"},
    Field{.name = "env",
          .type = object,
          .about = "{NAME: value}: variables beside those that hooks get; never on record"},
    process_title_param,
};
constexpr std::array register_params{
    session_param,
    task_param,
    Field{.name = "pid",
          .type = integer,
          .required = true,
          .min = 1,
          .max = INT32_MAX,
          .about = "a living process of the caller's user, as the caller counts"},
    process_title_param,
};

/// Whatever comes on record does so for a session that is open.
void answer_recorded(Result<Reply>&& reply, Respond& respond, const Backend& backend) {
    if (!reply) return respond(std::unexpected(std::move(reply.error())));
    const auto& process = std::get<ProcessReply>(*reply).process;
    respond(wire::to_json(process, {.now = backend.wall_time(),
                                    .session = wire::SessionState::open,
                                    .scope = wire::scope_of(process, {}),
                                    .stop = backend.stop_state(process)}));
}

void start(Call&& call, Backend& backend) {
    auto given = given_of<start_params>(call);
    StartRequest request;
    auto& draft = request.draft;
    draft.session_id = given.get<"session_id">();
    draft.task_id = given.get<"task_id">();
    draft.argv = read_argv(given, given.array<"argv">());
    draft.cwd = given.get<"cwd">();
    if (!draft.cwd.empty() && !draft.cwd.starts_with('/')) {
        given.reject("cwd", "must be an absolute path");
    }
    request.environment = read_environment(given, given.any_object<"env">());
    draft.title = given.get<"title">();
    if (given.error()) return call.respond(given.failure());
    draft.id = backend.new_process_id();
    draft.origin = ProcessOrigin::started;
    backend.start_process(std::move(request), [respond = std::move(call.respond),
                                               &backend](Result<Reply> reply) mutable {
        answer_recorded(std::move(reply), respond, backend);
    });
}

void register_one(Call&& call, Backend& backend) {
    auto given = given_of<register_params>(call);
    RecordProcess record;
    auto& draft = record.draft;
    draft.session_id = given.get<"session_id">();
    draft.task_id = given.get<"task_id">();
    draft.title = given.get<"title">();
    const auto pid = given.get_as<pid_t, "pid">();
    auto found = read_registered(given, pid, call.caller, backend);
    if (given.error()) return call.respond(given.failure());
    draft.origin = ProcessOrigin::registered;
    draft.process = found.process;
    draft.id = process_id_of(found.process);
    draft.argv = std::move(found.look.argv);
    draft.cwd = std::move(found.look.cwd);
    const auto bounds = backend.process_bounds();
    record.per_session_max = bounds.per_session;
    record.node_max = bounds.node;
    backend.submit(std::move(record),
                   [respond = std::move(call.respond), &backend](Result<Reply> reply) mutable {
                       answer_recorded(std::move(reply), respond, backend);
                   });
}

// --- process.stop and process.vouch -------------------------------------------------------------

constexpr std::array stop_params{process_param};
constexpr std::array stop_result =
    joined(process_fields, std::array{
                               always("already_exited", boolean, "true when it had ended before"),
                           });
constexpr std::array vouch_params{
    process_param,
    Field{.name = "until",
          .type = text,
          .required = true,
          .about = "it counts as work until then: a time (RFC 3339) or a duration such as 2h, at "
                   "most 7 days ahead; off: no longer"},
};

/// What is asked of one that runs.  The session of a process stays what it was meanwhile, or ends.
struct Change {
    ProcessId id;
    Command command;
    Result<wire::Rendered> (*render)(const ProcessOnRecord& row, const Backend& backend);
    Respond respond;
};

void answer(Change& change, const ProcessOnRecord& row, Backend& backend) {
    change.respond(change.render(row, backend));
}

/// It ended before the command was decided: what is on record of it now?
void answer_late(Change&& change, Error&& refused, Backend& backend) {
    auto id = change.id;
    find_process(std::move(id), backend,
                 [change = std::move(change), refused = std::move(refused),
                  &backend](Result<ProcessOnRecord> row) mutable {
                     if (!row || !row->process.exit) {
                         return change.respond(std::unexpected(std::move(refused)));
                     }
                     answer(change, *row, backend);
                 });
}

void submit_change(Change&& change, ProcessOnRecord&& row, Backend& backend) {
    auto command = std::move(change.command);
    backend.submit(std::move(command), [change = std::move(change), row = std::move(row),
                                        &backend](Result<Reply> reply) mutable {
        if (reply) {
            row.process = std::get<ProcessReply>(std::move(*reply)).process;
            freshen(row.process, backend);
            return answer(change, row, backend);
        }
        if (reply.error().code != ErrorCode::not_found) {
            return change.respond(std::unexpected(std::move(reply.error())));
        }
        answer_late(std::move(change), std::move(reply.error()), backend);
    });
}

/// Only those that run are in memory, so the record is asked first.
void change_running(Change&& change, Backend& backend) {
    auto id = change.id;
    find_process(std::move(id), backend,
                 [change = std::move(change), &backend](Result<ProcessOnRecord> row) mutable {
                     if (!row) return change.respond(std::unexpected(std::move(row.error())));
                     if (row->process.exit) return answer(change, *row, backend);
                     submit_change(std::move(change), std::move(*row), backend);
                 });
}

Result<wire::Rendered> render_stopped(const ProcessOnRecord& row, const Backend& backend) {
    auto object = render_process(row, /*task_id=*/{}, backend.wall_time(), backend);
    object["already_exited"] = row.process.exit.has_value();
    return object;
}

Result<wire::Rendered> render_vouched(const ProcessOnRecord& row, const Backend& backend) {
    if (const auto& exit = row.process.exit) {
        return fail(ErrorCode::ended,
                    fmt::format("process {} ended at {}; `knell ps --all` says how",
                                row.process.id.text(), format_rfc3339(exit->at)));
    }
    return render_process(row, /*task_id=*/{}, backend.wall_time(), backend);
}

void stop(Call&& call, Backend& backend) {
    auto given = given_of<stop_params>(call);
    auto id = read_process_id(given, given.get<"process_id">());
    if (given.error()) return call.respond(given.failure());
    StopProcess stop{id, call.caller.describe()};
    change_running({std::move(id), std::move(stop), render_stopped, std::move(call.respond)},
                   backend);
}

void vouch(Call&& call, Backend& backend) {
    auto given = given_of<vouch_params>(call);
    auto id = read_process_id(given, given.get<"process_id">());
    const auto until = read_until(given, given.get<"until">(), backend.wall_time());
    if (given.error()) return call.respond(given.failure());
    VouchProcess vouch{id, until};
    change_running({std::move(id), vouch, render_vouched, std::move(call.respond)}, backend);
}

constexpr std::array family{
    Method{"process.start", "start a program that outlives its caller, for a session", start_params,
           process_fields, start, /*is_ordered=*/true, Access::processes},
    Method{"process.register", "put a process that runs already on record, for a session",
           register_params, process_fields, register_one, /*is_ordered=*/true, Access::processes},
    Method{"process.stop", "stop a background process and what is below it", stop_params,
           stop_result, stop, /*is_ordered=*/false, Access::processes},
    Method{"process.vouch", "say that a background process is wanted, until then", vouch_params,
           process_fields, vouch, /*is_ordered=*/false, Access::processes},
};

}  // namespace

std::span<const Method> process_methods() {
    return family;
}

}  // namespace knell::rpc
