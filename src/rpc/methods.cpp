#include <array>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "rpc/decode.hpp"
#include "rpc/dispatcher.hpp"
#include "rpc/feeds.hpp"
#include "rpc/hooks.hpp"
#include "rpc/why.hpp"
#include "wire/params.hpp"
#include "wire/session_json.hpp"

namespace knell::rpc {

namespace {

// What a reply looks like to the caller.

struct Render {
    Json operator()(const OpenedReply& reply) const {
        JsonObject result;
        result["session_id"] = reply.session_id.text();
        result["generation"] = reply.generation;
        result["status"] = name_in(status_names, reply.status);
        if (reply.lease_ttl.count() > 0) {
            result["lease_ttl_s"] = reply.lease_ttl.count();
            // Two beats may be lost before the lease is.
            result["renew_every_s"] = std::max<std::int64_t>(1, reply.lease_ttl.count() / 3);
        }
        return result;
    }
    Json operator()(const AppendedReply& reply) const {
        JsonObject result;
        result["session_id"] = reply.session_id.text();
        result["generation"] = reply.generation;
        result["message_count"] = reply.tally.messages;
        result["input_tokens"] = reply.tally.input_tokens;
        result["output_tokens"] = reply.tally.output_tokens;
        return result;
    }
    Json operator()(const ClosedReply& reply) const {
        JsonObject result;
        result["session_id"] = reply.session_id.text();
        result["generation"] = reply.generation;
        result["status"] = name_in(status_names, Status::ended);
        result["reason"] = name_of(reply.end.reason);
        result["ended_at"] = format_rfc3339(reply.end.ended_at);
        result["already_ended"] = reply.already_ended;
        if (!reply.end.leftovers.empty()) {
            result["leftovers"] = wire::to_json(reply.end.leftovers);
        }
        return result;
    }
    Json operator()(const HeartbeatReply& reply) const {
        JsonObject result;
        result["renewed"] = ids(reply.renewed);
        result["fenced"] = ids(reply.fenced);
        result["ended"] = ids(reply.ended);
        return result;
    }
    // Observers, session.why and node.sweep speak to the engine themselves; no method renders
    // these.
    Json operator()(const NotedReply&) const { return JsonObject{}; }
    Json operator()(const InspectReply&) const { return JsonObject{}; }
    Json operator()(const SurveyReply&) const { return JsonObject{}; }

    static JsonArray ids(const std::vector<SessionId>& sessions) {
        JsonArray array;
        array.reserve(sessions.size());
        for (const auto& id : sessions) array.emplace_back(id.text());
        return array;
    }
    Json operator()(const TurnReply& reply) const {
        JsonObject result;
        result["session_id"] = reply.session_id.text();
        result["generation"] = reply.generation;
        result["status"] = name_in(status_names, reply.status);
        result["changed"] = reply.changed;
        return result;
    }
};

void submit(Command&& command, Respond&& respond, Backend& backend) {
    backend.submit(std::move(command), [respond = std::move(respond)](Result<Reply> reply) mutable {
        if (!reply) return respond(std::unexpected(std::move(reply.error())));
        respond(std::visit(Render{}, *reply));
    });
}

/// A method that changes something: decode, submit, render.
template <Result<Command> (*decode)(const JsonObject&, const Caller&, Backend&)>
void change(Call&& call, Backend& backend) {
    auto command = decode(call.params, call.caller, backend);
    if (!command) return call.respond(std::unexpected(std::move(command.error())));
    submit(std::move(*command), std::move(call.respond), backend);
}

/// As `change`, for words that may meet an owner's death: nobody's word is to hide one that has
/// happened, only because it was not noticed yet.
template <Result<Command> (*decode)(const JsonObject&, const Caller&, Backend&)>
void change_after_a_look(Call&& call, Backend& backend) {
    auto held = std::make_shared<Call>(std::move(call));
    backend.after_a_look([held, &backend] { change<decode>(std::move(*held), backend); });
}

/// An id that is taken may be its owner's who has just died: that is looked at before the answer is
/// no.  Ids that nobody chose are never taken.
void create(Call&& call, Backend& backend) {
    if (!call.params.contains("id")) return change<decode_create>(std::move(call), backend);
    auto command = decode_create(call.params, call.caller, backend);
    if (!command) return call.respond(std::unexpected(std::move(command.error())));
    auto held = std::make_shared<Call>(std::move(call));
    backend.submit(std::move(*command), [held, &backend](Result<Reply> reply) {
        if (!reply && reply.error().code == ErrorCode::owned) {
            return change_after_a_look<decode_create>(std::move(*held), backend);
        }
        if (!reply) return held->respond(std::unexpected(std::move(reply.error())));
        held->respond(std::visit(Render{}, *reply));
    });
}

/// The wrapper of a command asks for what it left behind to be found before the end is decided.
void close(Call&& call, Backend& backend) {
    wire::Params params(call.params);
    const auto id = params.id("session_id");
    const bool search = params.boolean("find_leftovers").value_or(false);
    const bool adopts = params.boolean("reaper").value_or(false);
    if (params.error()) return call.respond(params.failure());
    if (!search || id.empty()) return change_after_a_look<decode_close>(std::move(call), backend);
    std::optional<ProcessIdentity> reaper;
    if (adopts && backend.processes().is_knell(call.caller.pid)) reaper = call.caller.process;
    backend.search_leftovers(
        id, call.caller.pid, std::move(reaper),
        [call = std::move(call), &backend](CommandEnd end) mutable {
            auto command = decode_close(call.params, call.caller, backend);
            if (!command) return call.respond(std::unexpected(std::move(command.error())));
            auto& close = std::get<Close>(*command);
            close.leftovers = std::move(end.leftovers);
            close.is_over = end.is_over;
            close.by_parent = end.by_parent;
            close.was_searched = end.was_searched;
            submit(std::move(*command), std::move(call.respond), backend);
        });
}

void list(Call&& call, Backend& backend) {
    auto query = decode_list(call.params);
    if (!query) return call.respond(std::unexpected(std::move(query.error())));
    backend.read(
        call.caller.connection,
        [query = std::move(*query)](Reader& reader) -> Result<Json> {
            const auto page = reader.list(query);
            if (!page) return std::unexpected(page.error());
            JsonArray sessions;
            for (const auto& session : page->sessions) sessions.push_back(wire::to_json(session));
            JsonObject result;
            result["sessions"] = std::move(sessions);
            if (page->next) result["next"] = fmt::to_string(*page->next);
            return result;
        },
        std::move(call.respond));
}

void show(Call&& call, Backend& backend) {
    wire::Params params(call.params);
    auto id = params.required_id("session_id");
    MessageQuery query;
    query.limit = static_cast<std::size_t>(
        params.integer("messages", 0, limits::show_messages_max).value_or(0));
    query.before = params.integer("before", 1, INT64_MAX);
    query.bytes_max = limits::page_bytes_max;
    if (params.error()) return call.respond(params.failure());
    backend.read(
        call.caller.connection,
        [id = std::move(id), query](Reader& reader) mutable -> Result<Json> {
            const auto session = reader.find(id);
            if (!session) return std::unexpected(session.error());
            if (!*session) {
                return fail(
                    ErrorCode::not_found,
                    fmt::format("no session {}; `knell ls --all` lists what there is", id.text()));
            }
            auto result = wire::to_json(**session);
            if (query.limit == 0) return result;
            query.session = (*session)->ordinal;
            const auto page = reader.messages(query);
            if (!page) return std::unexpected(page.error());
            JsonArray array;
            for (const auto& message : page->messages) array.push_back(wire::to_json(message));
            result["messages"] = std::move(array);
            if (page->next) result["messages_next"] = *page->next;
            return result;
        },
        std::move(call.respond));
}

void read_events(Call&& call, Backend& backend) {
    auto query = decode_events(call.params);
    if (!query) return call.respond(std::unexpected(std::move(query.error())));
    backend.read(
        call.caller.connection,
        [query = std::move(*query), &node = backend.node_id()](Reader& reader) -> Result<Json> {
            const auto page = reader.events(query);
            if (!page) return std::unexpected(page.error());
            JsonArray events;
            for (const auto& event : page->events) events.push_back(wire::to_json(event, node));
            JsonObject result;
            result["events"] = std::move(events);
            result["next"] = page->next;
            if (page->gap) {
                result["gap"] = JsonObject{{"from", page->gap->from}, {"to", page->gap->to}};
            }
            return result;
        },
        std::move(call.respond));
}

void subscribe(Call&& call, Backend& backend) {
    auto subscription = decode_subscription(call.params);
    if (!subscription) return call.respond(std::unexpected(std::move(subscription.error())));
    if (call.stream == nullptr) {
        return call.respond(fail(ErrorCode::invalid_request,
                                 "events can only be followed on a connection that stays open; "
                                 "ask with events.read"));
    }
    backend.feeds().subscribe(std::move(*subscription), *call.stream, std::move(call.respond));
}

void config_check(Call&& call, Backend& backend) {
    backend.read(
        call.caller.connection,
        [&backend](Reader&) -> Result<Json> { return backend.check_config(); },
        std::move(call.respond));
}

void node_status(Call&& call, Backend& backend) {
    backend.read(
        call.caller.connection, [&backend](Reader& reader) { return backend.node_status(reader); },
        std::move(call.respond));
}

void node_sweep(Call&& call, Backend& backend) {
    wire::Params params(call.params);
    const bool dry_run = params.boolean("dry_run").value_or(false);
    const auto after = params.integer("after", 0, INT64_MAX).value_or(0);
    if (params.error()) return call.respond(params.failure());
    backend.sweep(dry_run, after, std::move(call.respond));
}

void node_stop(Call&& call, Backend& backend) {
    call.respond(JsonObject{{"stopping", true}});
    backend.stop();
}

void describe(Call&& call, Backend&) {
    JsonArray all;
    for (const auto& method : methods()) {
        JsonArray params;
        for (const auto& param : method.params) {
            params.push_back(JsonObject{{"name", param.name},
                                        {"type", param.type},
                                        {"required", param.required},
                                        {"about", param.about}});
        }
        all.push_back(JsonObject{
            {"name", method.name}, {"summary", method.summary}, {"params", std::move(params)}});
    }
    call.respond(JsonObject{{"methods", std::move(all)}});
}

constexpr Param session_param{"session_id", "string", true, "the session"};
constexpr Param generation_param{"generation", "integer", true,
                                 "the fencing token that create or resume gave"};
constexpr Param owner_param{"owner", "object", false,
                            "{pid, pid_namespace?}, {lease_ttl_s} or both; default: the calling "
                            "process"};
constexpr Param on_owner_loss_param{"on_owner_loss", "string", false, "end (default) or park"};
constexpr Param park_param{"park_s", "integer", false, "with park: for how long, default 300"};
constexpr Param leftovers_param{"leftovers", "string", false,
                                "the session is one command: report or stop what it leaves"};
// Without this word the children of whoever makes the call are nobody's leftovers.
constexpr Param reaper_param{"reaper", "boolean", false,
                             "the caller adopts orphans, and has no children but the command's"};

constexpr std::array create_params{
    Param{"id", "string", false, "default: a new UUIDv7"},
    Param{"key", "string", false, "routing key, such as agent:main:telegram:dm:42"},
    Param{"source", "string", true, "cli, gateway, cron, subagent, claude-code ..."},
    Param{"platform", "string", false, "telegram, slack ..."},
    Param{"user_id", "string", false, "whose conversation it is"},
    Param{"parent_id", "string", false, "the session it came out of"},
    Param{"relation", "string", false, "compression, branch, subagent or reset"},
    Param{"model", "string", false, "the model that answers"},
    Param{"title", "string", false, "for people"},
    Param{"cwd", "string", false, "working directory"},
    owner_param,
    on_owner_loss_param,
    park_param,
    leftovers_param,
    reaper_param,
    Param{"meta", "object", false, "anything of the client's own"},
};
constexpr std::array resume_params{
    session_param,
    owner_param,
    on_owner_loss_param,
    park_param,
    leftovers_param,
    reaper_param,
    Param{"takeover", "boolean", false, "end the present owner's generation as superseded"}};
constexpr std::array append_params{
    session_param, generation_param,
    Param{"messages", "array", true, "[{role, content, tool_name?, tokens?}]"}};
constexpr std::array close_params{
    session_param,
    Param{"generation", "integer", false, "refuse as fenced unless this one is open"},
    Param{"reason", "string", false, "default: completed"},
    Param{"detail", "string", false, "free text"},
    Param{"owner", "object", false, "{pid}: who says so, where that is not the caller itself"},
    Param{"find_leftovers", "boolean", false, "look for what the command left running first"},
    reaper_param};
constexpr std::array heartbeat_params{
    Param{"session_id", "string", false, "one session, with generation"},
    Param{"generation", "integer", false, "its fencing token"},
    Param{"sessions", "array", false, "or many: [{session_id, generation}]"}};
constexpr std::array why_params{
    session_param, Param{"after", "integer", false,
                         "only transitions after this event: `next` of the page before"}};
constexpr std::array sweep_params{
    Param{"dry_run", "boolean", false, "say what would end and why, end nothing"},
    Param{"after", "integer", false, "name sessions after this one: `next` of the page before"}};
constexpr std::array list_params{
    Param{"source", "string", false, "only this source"},
    Param{"key", "string", false, "only this routing key"},
    Param{"status", "string", false, "running, idle, ended ..."},
    Param{"ended", "boolean", false, "only ended, or only open ones"},
    Param{"all", "boolean", false, "also sub-agent, cron and empty sessions"},
    Param{"limit", "integer", false, "1 to 1000, default 50"},
    Param{"cursor", "string", false, "`next` of the page before"},
};
constexpr std::array show_params{
    session_param, Param{"messages", "integer", false, "also the newest N messages"},
    Param{"before", "integer", false, "only older ones: `messages_next` of the page before"}};
constexpr std::array turn_params{session_param, generation_param};
constexpr std::array events_params{
    Param{"after", "integer", false, "events after this sequence number, default 0"},
    Param{"limit", "integer", false, "1 to 5000, default 500"},
    Param{"types", "array", false, "only these types"},
    Param{"session_id", "string", false, "only of this session"}};
constexpr std::array subscribe_params{
    Param{"after", "integer", false, "begin after this number, 0 for all; default: only new ones"},
    Param{"types", "array", false, "only these types"},
    Param{"session_id", "string", false, "only of this session"}};

constexpr Param hook_param{"name", "string", true, "the hook or webhook"};
constexpr std::array hook_params{hook_param};
constexpr std::array hooks_retry_params{
    Param{"name", "string", false, "only this hook or webhook; default: all"}};
constexpr std::array hooks_letters_params{
    Param{"name", "string", false, "only this hook or webhook; default: all"},
    Param{"state", "string", false, "waiting or dead; default: both"},
    Param{"after", "integer", false, "with name: only events after this number"},
    Param{"cursor", "string", false, "`next` of the page before"},
    Param{"limit", "integer", false, "1 to 1000, default 50"}};

constexpr std::array method_table{
    Method{"session.create", "open a session", create_params, create},
    Method{"session.resume", "open an ended session again, or claim a live one", resume_params,
           change_after_a_look<decode_resume>},
    Method{"session.append", "add messages", append_params, change<decode_append>},
    Method{"session.close", "end a session; twice is not an error", close_params, close},
    Method{"session.heartbeat", "signs of life: renew leases", heartbeat_params,
           change<decode_heartbeat>},
    Method{"session.why", "why a session is as it is", why_params, why},
    Method{"session.list", "sessions, newest first", list_params, list},
    Method{"session.show", "one session with its facts", show_params, show},
    Method{"turn.start", "the agent began to work on a prompt", turn_params,
           change<decode_turn_start>},
    Method{"turn.end", "the agent is done with the prompt", turn_params, change<decode_turn_end>},
    Method{"events.read", "events after a sequence number", events_params, read_events},
    Method{"events.subscribe", "events as they happen, one notification each", subscribe_params,
           subscribe},
    Method{"hooks.list", "hooks and webhooks, and how it goes with them", {}, hooks_list},
    Method{"hooks.test", "try one with an event that never happened", hook_params, hooks_test},
    Method{"hooks.retry", "send what waits or was given up again, now", hooks_retry_params,
           hooks_retry},
    Method{"hooks.pause", "deliver nothing until resumed", hook_params, hooks_pause},
    Method{"hooks.resume", "go on where it was paused or disabled", hook_params, hooks_resume},
    Method{"hooks.forget", "drop the place and letters of one that is gone", hook_params,
           hooks_forget},
    Method{"hooks.letters", "events that could not be delivered yet, or were given up",
           hooks_letters_params, hooks_letters},
    Method{"config.check",
           "what is wrong in config.yaml and the hooks; nothing is changed",
           {},
           config_check},
    Method{"node.status", "the daemon itself", {}, node_status},
    Method{"node.sweep", "look at every owner now and end what is proven dead", sweep_params,
           node_sweep},
    Method{"node.stop", "end the daemon; sessions stay as they are", {}, node_stop},
    Method{"rpc.describe", "this list", {}, describe},
};

}  // namespace

std::span<const Method> methods() {
    return method_table;
}

}  // namespace knell::rpc
