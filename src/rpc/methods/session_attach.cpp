// session.attach, session.detach and session.active_list: clients that look at sessions.

#include <fmt/format.h>

#include "core/limits.hpp"
#include "rpc/feeds.hpp"
#include "rpc/method_table.hpp"
#include "rpc/methods/session_page.hpp"
#include "wire/session_fields.hpp"

namespace knell::rpc {

namespace {

using namespace wire::fields;

/// Named in an answer; how many there are it says anyway.
constexpr std::size_t others_max = 32;

constexpr std::array attach_params{
    session_param,
    Field{.name = "after",
          .type = integer,
          .max = unbounded,
          .about = "also its events after this number; default: only new ones"},
};
constexpr std::array attach_result{
    always("session_id", id, "the session"),
    always("generation", integer, "its fencing token"),
    always_one_of<Status>("status", "of the session, now"),
    always("attached", integer, "clients that look at it, this one among them"),
    always_list("others", text, "who else looks at it; at most 32 are named"),
    always("after", integer, "its events after this one follow, as notifications"),
};
constexpr std::array detach_params{session_param};
constexpr std::array detach_result{
    always("session_id", id, "the session"),
    always("generation", integer, "its fencing token"),
    always("attached", integer, "clients that still look at it"),
    always("changed", boolean, "false when this one did not look at it"),
};

JsonObject render(const AttachedReply& reply, const std::vector<std::string>& others) {
    JsonArray names;
    for (const auto& other : others) names.emplace_back(other);
    return {{"session_id", reply.session_id.text()},
            {"generation", reply.generation},
            {"status", name_in(status_names, reply.status)},
            {"attached", reply.attached},
            {"others", std::move(names)}};
}

JsonObject render(const DetachedReply& reply) {
    return {{"session_id", reply.session_id.text()},
            {"generation", reply.generation},
            {"attached", reply.attached},
            {"changed", reply.changed}};
}

constexpr auto look = Attachments::Kind::look;

/// A call for a session, and the connection that made it.
struct Attaching {
    ConnectionId connection = ConnectionId::none;
    SessionId session;
    Attachments::Ticket ticket = 0;
    std::optional<Seq> after;
    Attachments& attachments;
    Backend& backend;

    /// Neither hung up nor asked for again since.
    bool is_wanted() const { return attachments.ticket_of(look, connection, session) == ticket; }

    void refuse(Error why, Respond respond) const {
        attachments.refused(look, connection, session, ticket);
        respond(std::unexpected(std::move(why)));
    }

    /// It could be attached and cannot be told anything: then it is not attached.
    void undo() const {
        if (!is_wanted()) return;
        attachments.left(look, connection, session, ticket);
        backend.observe(ClientGone{connection, {session}, {}});
    }

    /// What the session tells from here on goes to the connection, if it is still there.
    void follow(const AttachedReply& reply, Respond respond) const {
        attachments.confirm(look, connection, session, reply.generation);
        auto result = render(reply, attachments.others(connection, session, others_max));
        Subscription wanted;
        wanted.query.after = after.value_or(reply.newest);
        wanted.query.session_id = session;
        wanted.is_attachment = true;
        wanted.is_ours = !after;
        if (!is_wanted()) {
            result["after"] = wanted.query.after;
            return respond(std::move(result));
        }
        // In place of the one that it has, if this is not its first.
        backend.feeds().unsubscribe(attachments.take_feed(connection, session));
        const auto feed = backend.feeds().subscribe(
            std::move(wanted), *attachments.stream_of(connection),
            std::move(respond).changed_by([made = *this, result = std::move(result)](
                                              Result<Json> greeting) mutable -> Result<Json> {
                if (!greeting) {
                    made.undo();
                    return greeting;
                }
                result["after"] = greeting->at("after");
                return Json(std::move(result));
            }));
        attachments.set_feed(connection, session, feed);
    }
};

/// Why that connection cannot be attached to one more.
std::optional<Error> refusal_of(const Call& call, const SessionId& session) {
    if (call.stream == nullptr) {
        return Error{ErrorCode::invalid_request,
                     "only a connection that stays open can be attached: use the unix socket or "
                     "/v1/ws",
                     {},
                     {}};
    }
    const auto connection = call.caller.connection;
    const bool is_there = call.attachments.ticket_of(look, connection, session) != 0;
    if (is_there || call.attachments.count(connection) < limits::attachments_per_client_max) {
        return std::nullopt;
    }
    return Error{ErrorCode::limit,
                 fmt::format("this connection is attached to {} sessions already; detach some, or "
                             "open another",
                             limits::attachments_per_client_max),
                 {},
                 {}};
}

void attach(Call&& call, Backend& backend) {
    auto given = given_of<attach_params>(call);
    auto session = given.get<"session_id">();
    const auto after = given.get<"after">();
    if (given.error()) return call.respond(given.failure());
    if (auto why = refusal_of(call, session)) {
        return call.respond(std::unexpected(std::move(*why)));
    }
    const auto connection = call.caller.connection;
    // Entered at once: should the connection go before this is decided, that is told after it.
    const auto ticket =
        call.attachments.enter(look, {connection, call.caller.describe()}, *call.stream, session);
    Attach command{session, connection};
    backend.submit(
        std::move(command),
        [made = Attaching{connection, std::move(session), ticket, after, call.attachments, backend},
         respond = std::move(call.respond)](Result<Reply> reply) mutable {
            if (!reply) return made.refuse(std::move(reply.error()), std::move(respond));
            made.follow(std::get<AttachedReply>(*reply), std::move(respond));
        });
}

void detach(Call&& call, Backend& backend) {
    auto given = given_of<detach_params>(call);
    auto session = given.get<"session_id">();
    if (given.error()) return call.respond(given.failure());
    const auto connection = call.caller.connection;
    auto& attachments = call.attachments;
    const auto ticket = attachments.ticket_of(look, connection, session);
    Detach command{session, connection};
    backend.submit(std::move(command),
                   [connection, session = std::move(session), ticket, &attachments, &backend,
                    respond = std::move(call.respond)](Result<Reply> reply) mutable {
                       // It looks at it as before.
                       if (!reply) return respond(std::unexpected(std::move(reply.error())));
                       if (attachments.ticket_of(look, connection, session) == ticket) {
                           backend.feeds().unsubscribe(attachments.take_feed(connection, session));
                       }
                       attachments.left(look, connection, session, ticket);
                       respond(render(std::get<DetachedReply>(*reply)));
                   });
}

constexpr std::array active_params{
    Field{.name = "current_session_id",
          .type = id,
          .about = "listed also when it is idle and without a client"},
    limit_param,
    cursor_param(limits::word_bytes_max),
};
constexpr std::array active_result{
    with_object(always("sessions", array, "newest first"), "session", session_fields),
    next_cursor,
};

void active_list(Call&& call, Backend& backend) {
    auto given = given_of<active_params>(call);
    SessionQuery query;
    query.ended = false;
    query.all = true;
    query.live_at = backend.wall_time();
    query.current = given.get<"current_session_id">();
    query.bytes_max = limits::page_bytes_max;
    query.limit = given.get_as<std::size_t, "limit">();
    query.before = read_cursor(given, given.get<"cursor">());
    if (given.error()) return call.respond(given.failure());
    if (!query.current.empty()) backend.note_named(query.current);
    answer_page(std::move(call), std::move(query), backend);
}

constexpr std::array family{
    Method{"session.attach", "look at a session, and hear what happens to it", attach_params,
           attach_result, attach, /*is_ordered=*/true},
    Method{"session.detach", "look at a session no longer", detach_params, detach_result, detach,
           /*is_ordered=*/true},
    Method{"session.active_list", "sessions that are live or can be attached to", active_params,
           active_result, active_list, /*is_ordered=*/false, Access::read_only},
};

}  // namespace

std::span<const Method> session_attach_methods() {
    return family;
}

}  // namespace knell::rpc
