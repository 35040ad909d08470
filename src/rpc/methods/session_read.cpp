// session.list and session.show: what is on record.

#include <fmt/format.h>

#include "core/limits.hpp"
#include "rpc/method_table.hpp"
#include "rpc/methods/process_row.hpp"
#include "rpc/methods/reset_row.hpp"
#include "rpc/methods/session_page.hpp"
#include "wire/session_fields.hpp"
#include "wire/session_json.hpp"

namespace knell::rpc {

namespace {

using namespace wire::fields;

constexpr std::int64_t within_s_max = 100LL * 365 * 24 * 3600;

constexpr std::array list_params{
    Field{.name = "source", .type = word, .about = "only this source"},
    Field{.name = "key",
          .type = text,
          .max = limits::key_bytes_max,
          .about = "only this routing key"},
    Field{.name = "status",
          .type = choice,
          .choices = names_of<Status>,
          .about = "running, idle, ended ..."},
    Field{.name = "ended", .type = boolean, .about = "only ended, or only open ones"},
    Field{.name = "all",
          .type = boolean,
          .standard = 0,
          .about = "also sub-agent, cron and empty sessions"},
    Field{.name = "by_end",
          .type = boolean,
          .standard = 0,
          .about = "only those that ended, the last to end first; without empty ones"},
    Field{.name = "cwd",
          .type = text,
          .max = limits::cwd_bytes_max,
          .about = "with `by_end`: only of this directory, or one below it"},
    Field{.name = "within_s",
          .type = integer,
          .min = 1,
          .max = within_s_max,
          .about = "with `by_end`: only those that ended in the last so many seconds"},
    limit_param,
    cursor_param(limits::word_bytes_max),
};
constexpr std::array list_result{
    with_object(always("sessions", array, "newest first, by when they were opened; see `by_end`"),
                "session", session_fields),
    only("the first page, and some may be folded away", "folded", integer,
         "how many more `all` would list, 10,000 at most"),
    next_cursor,
};
constexpr std::array show_params{
    session_param,
    Field{.name = "messages",
          .type = integer,
          .max = limits::show_messages_max,
          .standard = 0,
          .about = "also the newest N messages"},
    Field{.name = "before",
          .type = integer,
          .min = 1,
          .max = unbounded,
          .about = "only older ones: `messages_next` of the page before"},
};
constexpr std::array show_result = joined(
    session_fields,
    std::array{
        only("it ended, and another goes on in its place", "successor", id, "which"),
        only("it is reset by policy", "next_reset_at", time, "as in `reset`"),
        with_object(only("it is open and has a key", "reset", object, "when it is reset, and why"),
                    "", reset_rows::reset_fields),
        always("processes", integer, "its background processes that run: see process.list"),
        with_object(
            Field{.name = "messages", .type = array, .when = "asked for", .about = "oldest first"},
            "message", message_facts),
        only("there are older ones", "messages_next", integer, "`before` of the next page"),
    });

using ListGiven = wire::Given<list_params>;

SessionQuery read_query(ListGiven& given) {
    SessionQuery query;
    query.source = given.get<"source">();
    query.key = given.get<"key">();
    query.status = given.choice<Status, "status">();
    query.ended = given.get<"ended">();
    query.all = given.get<"all">();
    query.bytes_max = limits::page_bytes_max;
    query.limit = given.get_as<std::size_t, "limit">();
    return query;
}

/// The same by their ends, of which there is one only.
EndedQuery ended_query(ListGiven& given, SessionQuery&& query, std::string&& cwd) {
    if (query.ended == false) given.reject("ended", "must not be false with by_end");
    if (query.status && *query.status != Status::ended) {
        given.reject("status", "can only be ended with by_end");
    }
    if (!cwd.empty() && !cwd.starts_with('/')) given.reject("cwd", "must be an absolute path");
    while (cwd.size() > 1 && cwd.ends_with('/')) cwd.pop_back();
    EndedQuery ended;
    ended.source = std::move(query.source);
    ended.key = std::move(query.key);
    ended.cwd = std::move(cwd);
    ended.all = query.all;
    ended.limit = query.limit;
    ended.bytes_max = query.bytes_max;
    return ended;
}

void list(Call&& call, Backend& backend) {
    auto given = given_of<list_params>(call);
    auto query = read_query(given);
    const bool by_end = given.get<"by_end">();
    auto cwd = given.get<"cwd">();
    const auto within = given.get<"within_s">();
    const auto cursor = given.get<"cursor">();
    if (by_end) {
        auto ended = ended_query(given, std::move(query), std::move(cwd));
        if (within) ended.since = backend.wall_time() - std::chrono::seconds{*within};
        ended.before = read_end_cursor(given, cursor);
        if (given.error()) return call.respond(given.failure());
        return answer_page(std::move(call), std::move(ended), backend);
    }
    if (!cwd.empty()) given.reject("cwd", "can only be given with by_end");
    if (within) given.reject("within_s", "can only be given with by_end");
    query.before = read_cursor(given, cursor);
    if (given.error()) return call.respond(given.failure());
    answer_page(std::move(call), std::move(query), backend, /*with_folded=*/true);
}

/// In which way the session that goes on in its place came out of it.
Relation successor_relation(Reason reason) {
    if (reason == Reason::compression) return Relation::compression;
    if (reason == Reason::branched) return Relation::branch;
    return Relation::reset;
}

Result<void> add_successor(JsonObject& result, const Session& session, Reader& reader) {
    if (!session.end) return {};
    const auto child = reader.newest_child(session.id, successor_relation(session.end->reason));
    if (!child) return std::unexpected(child.error());
    if (*child) result["successor"] = (*child)->id.text();
    return {};
}

Result<void> add_reset(JsonObject& result, const Session& session, Reader& reader,
                       const Backend& backend) {
    auto view = view_reset(session, *backend.reset_policies());
    if (!view) return {};
    auto held = read_held(session, view->policy, reader, backend);
    if (!held) return std::unexpected(std::move(held.error()));
    view->held = std::move(*held);
    if (view->next) result["next_reset_at"] = format_rfc3339(view->next->at);
    result["reset"] = render_reset(*view, backend.wall_time());
    return {};
}

Result<Json> find_and_render(const SessionId& id, MessageQuery query, Reader& reader,
                             Backend& backend) {
    const auto session = reader.find(id);
    if (!session) return std::unexpected(session.error());
    if (!*session) {
        return fail(ErrorCode::not_found,
                    fmt::format("no session {}; `knell ls --all` lists what there is", id.text()));
    }
    note_named(**session, backend);
    auto result = wire::to_json(**session);
    auto added = add_successor(result, **session, reader);
    if (added) added = add_reset(result, **session, reader, backend);
    if (!added) return std::unexpected(std::move(added.error()));
    const auto running = count_running(id, reader);
    if (!running) return std::unexpected(running.error());
    result["processes"] = *running;
    if (query.limit == 0) return result;
    query.session = (*session)->ordinal;
    const auto page = reader.messages(query);
    if (!page) return std::unexpected(page.error());
    JsonArray messages;
    for (const auto& message : page->messages) messages.push_back(wire::to_json(message));
    result["messages"] = std::move(messages);
    if (page->next) result["messages_next"] = *page->next;
    return result;
}

void show(Call&& call, Backend& backend) {
    auto given = given_of<show_params>(call);
    auto id = given.get<"session_id">();
    MessageQuery query;
    query.limit = given.get_as<std::size_t, "messages">();
    query.before = given.get<"before">();
    query.bytes_max = limits::page_bytes_max;
    if (given.error()) return call.respond(given.failure());
    backend.read(
        call.caller.connection,
        [id = std::move(id), query, &backend](Reader& reader) {
            return find_and_render(id, query, reader, backend);
        },
        std::move(call.respond));
}

constexpr std::array family{
    Method{"session.list", "sessions, newest first", list_params, list_result, list,
           /*is_ordered=*/false, Access::read_only},
    Method{"session.show", "one session with its facts", show_params, show_result, show,
           /*is_ordered=*/false, Access::read_only},
};

}  // namespace

std::span<const Method> session_read_methods() {
    return family;
}

}  // namespace knell::rpc
