#include "cli/run_session.hpp"

#include <array>

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/leftover_rows.hpp"
#include "cli/output.hpp"
#include "cli/shell_argument.hpp"
#include "client/connect.hpp"
#include "client/start_daemon.hpp"
#include "config/config.hpp"
#include "core/departure.hpp"
#include "platform/clock.hpp"

namespace knell::cli {

namespace {

using std::chrono::milliseconds;

/// What a person waits at most for a daemon, before the command and again after it.
constexpr milliseconds daemon_wait_max{5'000};

/// What comes so soon after an interruption is taken to follow from it.
constexpr std::chrono::seconds soon{10};

/// A close that failed: a later daemon may take it, or it never will.
enum class AfterFailure : std::uint8_t { nothing, spool, complain };

AfterFailure what_to_do(ErrorCode code) {
    switch (code) {
        // Somebody took the session over: its end is theirs to tell.
        case ErrorCode::fenced:
            return AfterFailure::nothing;
        case ErrorCode::internal:
        case ErrorCode::limit:
        case ErrorCode::storage:
        case ErrorCode::unauthorized:
        case ErrorCode::unreachable:
            return AfterFailure::spool;
        case ErrorCode::parse_error:
        case ErrorCode::invalid_request:
        case ErrorCode::method_not_found:
        case ErrorCode::invalid_params:
        case ErrorCode::owned:
        case ErrorCode::blocked:
        case ErrorCode::ended:
        case ErrorCode::not_found:
            break;
    }
    return AfterFailure::complain;
}

/// The daemon counts pids elsewhere and cannot see the command from there.
bool is_unseen(const Error& error) {
    return error.code == ErrorCode::invalid_params && error.field == "owner.pid";
}

/// An owner that stands for a process which the daemon cannot see.
JsonObject lease_for(pid_t pid) {
    auto owner = client::owner_for_call(pid);
    owner["kind"] = "lease";
    owner["lease_ttl_s"] = unseen_lease_ttl.count();
    return owner;
}

/// " after SIGHUP (terminal closed)"
std::string after(const Interruption& interruption) {
    // One that the command went on after may have nothing to do with its end.
    const auto when = interruption.before < soon
                          ? std::string(" after")
                          : fmt::format(", {} s after", interruption.before.count());
    if (interruption.signal == 0) return when + " the terminal closed";
    auto name = fmt::format("{} SIG{}", when, ::sigabbrev_np(interruption.signal));
    if (!interruption.by_terminal) return name;
    switch (interruption.signal) {
        case SIGHUP:
            return name + " (terminal closed)";
        case SIGINT:
            return name + " (Ctrl-C)";
        default:
            return name + " (from the terminal)";
    }
}

bool was_reaped_before(const JsonObject& closed) {
    return wire::bool_at(closed, "already_ended") && wire::text_at(closed, "reason") == "reaped";
}

std::string_view first_line(std::string_view text) {
    return text.substr(0, text.find('\n'));
}

}  // namespace

RunEnd describe_end(const RunOutcome& outcome) {
    const auto& interruption = outcome.interruption;
    const bool is_signaled = WIFSIGNALED(outcome.wait_status);
    const Departure departure{
        .kind = is_signaled ? Departure::Kind::signaled : Departure::Kind::exited,
        .number = is_signaled ? WTERMSIG(outcome.wait_status) : WEXITSTATUS(outcome.wait_status)};
    auto detail = detail_for(departure);
    // One that died of the very signal says so already.
    const bool is_said = is_signaled && interruption && interruption->signal == departure.number;
    if (interruption && !is_said) detail += after(*interruption);
    return {std::string(name_of(reason_for(departure, /*is_command=*/true))), std::move(detail)};
}

RunSession::RunSession(const Paths& paths, JsonObject params, std::string command)
    : paths_(paths),
      params_(std::move(params)),
      command_(std::move(command)),
      id_(std::string(wire::text_at(params_, "id"))) {}

JsonObject RunSession::with_command(JsonObject owner) const {
    if (!command_.empty()) owner["command"] = command_;
    return owner;
}

std::string RunSession::socket() const {
    const bool is_anothers =
        untold_create_ && !paths_.socket_is_named && !client::check_home(paths_).has_value();
    return is_anothers ? "" : paths_.socket;
}

Result<void> RunSession::open(pid_t owner) {
    const client::Deadline deadline{daemon_wait_max};
    auto connection = client::connect_or_start(paths_, variables_in_config, deadline);
    auto created = connection ? create(*connection, owner, deadline)
                              : Result<void>(std::unexpected(connection.error()));
    if (created) return created;
    const auto code = created.error().code;
    // A live session must not be run twice, and a mistake must not be kept for later.
    if (code == ErrorCode::owned) {
        // The daemon's advice is for calls: a command has no takeover.
        const auto& said = created.error().message;
        return fail(code, fmt::format("{}; choose another --id, or end that one with: knell end {}",
                                      said.substr(0, said.find("; take it over")),
                                      shell_argument(id_.text())));
    }
    if (code == ErrorCode::invalid_params) return created;
    keep_create(owner, created.error());
    return {};
}

Result<Json> RunSession::create_as(client::Connection& connection, const JsonObject& owner,
                                   const client::Deadline& deadline) {
    auto params = params_;
    params["owner"] = owner;
    auto result = connection.call("session.create", params, deadline);
    if (!result && result.error().field == "parent_id") {
        // One that came out of this very session before: that must not keep the command from
        // running.
        params.erase("parent_id");
        result = connection.call("session.create", params, deadline);
    }
    if (result || result.error().code != ErrorCode::ended) return result;
    auto names = JsonObject{};
    for (const auto* name : {"title", "cwd"}) {
        if (const auto* given = params_.if_contains(name)) names[name] = *given;
    }
    return resume_as(connection, owner, std::move(names), deadline);
}

Result<Json> RunSession::resume_as(client::Connection& connection, const JsonObject& owner,
                                   JsonObject names, const client::Deadline& deadline) const {
    auto resume = std::move(names);
    resume["session_id"] = id_.text();
    resume["owner"] = owner;
    resume["leftovers"] = wire::text_at(params_, "leftovers");
    resume["reaper"] = wire::bool_at(params_, "reaper");
    return connection.call("session.resume", resume, deadline);
}

Result<void> RunSession::create(client::Connection& connection, pid_t owner,
                                const client::Deadline& deadline) {
    auto result = create_as(connection, with_command(client::owner_for_call(owner)), deadline);
    if (!result && is_unseen(result.error())) {
        // Nothing is refused to run because a daemon cannot see it: a lease stands for it.
        result = create_as(connection, with_command(lease_for(owner)), deadline);
        needs_renewal_ = result.has_value();
    }
    if (!result) return std::unexpected(std::move(result.error()));
    take_generation(*result);
    return {};
}

void RunSession::take_generation(const Json& opened) {
    if (const auto* object = opened.if_object()) {
        generation_ = static_cast<Generation>(wire::int_at(*object, "generation"));
    }
}

Reopened RunSession::open_again_if_reaped(pid_t owner) {
    const client::Deadline deadline{daemon_wait_max};
    auto connection = client::connect(paths_, deadline);
    if (!connection) return Reopened::not_yet;
    const JsonObject which{{"session_id", id_.text()}};
    const auto shown = connection->call("session.show", which, deadline);
    const auto* session = shown ? shown->if_object() : nullptr;
    if (session == nullptr) return Reopened::not_yet;
    const bool is_ours =
        static_cast<Generation>(wire::int_at(*session, "generation")) == generation_;
    if (!is_ours || wire::text_at(*session, "reason") != "reaped") return Reopened::no;
    // The same command goes on: what it is called by now is not ours to say.
    const auto opened = resume_as(*connection, with_command(lease_for(owner)), {}, deadline);
    if (!opened) {
        if (what_to_do(opened.error().code) == AfterFailure::spool) return Reopened::not_yet;
        complain("run",
                 fmt::format("session {} was reaped, because its lease was not renewed in time, "
                             "and is not open any more: {}",
                             id_.text(), first_line(opened.error().message)));
        return Reopened::no;
    }
    take_generation(*opened);
    complain("run", fmt::format("session {} was reaped, because its lease was not renewed in time; "
                                "it is open again, as generation {}",
                                id_.text(), generation_));
    return Reopened::yes;
}

void RunSession::keep_create(pid_t owner, const Error& why) {
    auto params = params_;
    params["owner"] = with_command(client::owner_for_spool(owner));
    untold_create_ = {read_clocks().wall, "session.create", std::move(params)};
    const auto kept = client::append_to_spool(paths_.spool_dir, id_, *untold_create_);
    create_is_kept_ = kept.has_value();
    complain("run",
             kept ? fmt::format("{}; the command runs, its record waits in {}",
                                first_line(why.message), client::spool_file(paths_.spool_dir, id_))
                  : fmt::format("{}; the command runs unrecorded: {}", first_line(why.message),
                                kept.error().message));
}

Result<JsonObject> RunSession::tell(std::string_view method, const JsonObject& params) {
    const client::Deadline deadline{daemon_wait_max};
    auto connection = client::connect(paths_, deadline);
    auto told = connection ? connection->call(method, params, deadline)
                           : Result<Json>(std::unexpected(connection.error()));
    if (!told && told.error().code == ErrorCode::unreachable) {
        connection = client::connect_or_start(paths_, variables_in_config, deadline);
        told = connection ? connection->call(method, params, deadline)
                          : Result<Json>(std::unexpected(connection.error()));
    }
    if (!told) return std::unexpected(std::move(told.error()));
    const auto* object = told->if_object();
    return object == nullptr ? JsonObject{} : *object;
}

/// Also where the daemon saw the command end before we could say so: it has looked for itself.
void RunSession::tell_leftovers(const JsonObject& closed) const {
    const auto* leftovers = wire::array_at(closed, "leftovers");
    if (leftovers == nullptr) return;
    for (const auto& line : leftover_lines(*leftovers, id_.text())) complain("run", line);
}

void RunSession::close(const RunOutcome& outcome, std::optional<pid_t> command) {
    const auto end = describe_end(outcome);
    JsonObject params{{"session_id", id_.text()}};
    if (generation_ > 0) params["generation"] = generation_;
    params["reason"] = end.reason;
    params["detail"] = end.detail;
    if (untold_create_) return keep_both(params);
    auto call = params;
    if (command) {
        // Not kept in the spool: when that is read there is nothing left to find.
        call["find_leftovers"] = true;
        call["reaper"] = wire::bool_at(params_, "reaper");
    }
    const auto told = tell("session.close", call);
    if (told && needs_renewal_ && was_reaped_before(*told)) {
        // Not opened again only to be ended: that would be a life which the command never had.
        complain("run", fmt::format("session {} was reaped before, because its lease was not "
                                    "renewed in time; how its command ended ({}) is not on record",
                                    id_.text(), end.detail));
    }
    if (told) return tell_leftovers(*told);
    is_end_untold_ = true;
    switch (what_to_do(told.error().code)) {
        case AfterFailure::nothing:
            break;
        case AfterFailure::spool:
            keep_close(params, told.error());
            break;
        case AfterFailure::complain:
            complain("run", fmt::format("the end of session {} is not recorded: {}", id_.text(),
                                        first_line(told.error().message)));
            break;
    }
}

/// A daemon may have taken in the create meanwhile.  It is kept once more, because it shows which
/// owner's session is to be closed: under the same id there may be another's.
void RunSession::keep_both(const JsonObject& close_params) {
    const std::array records{
        *untold_create_, client::SpoolRecord{read_clocks().wall, "session.close", close_params}};
    const auto kept = client::append_to_spool(paths_.spool_dir, id_, records);
    // One line was written when the session was opened, and one is enough.
    if (kept || !create_is_kept_) return;
    complain("run", fmt::format("the end of session {} is not recorded: {}", id_.text(),
                                kept.error().message));
}

void RunSession::keep_close(const JsonObject& params, const Error& why) {
    const auto kept = client::append_to_spool(paths_.spool_dir, id_,
                                              {read_clocks().wall, "session.close", params});
    complain("run", fmt::format("the end of session {} {}: {}", id_.text(),
                                kept ? "waits in the spool" : "is not recorded",
                                first_line(kept ? why.message : kept.error().message)));
}

}  // namespace knell::cli
