// turn.start and turn.end: the agent begins and ends its work on a prompt.

#include "rpc/method_table.hpp"
#include "wire/session_fields.hpp"

namespace knell::rpc {

namespace {

using namespace wire::fields;

constexpr std::array turn_params{session_param, generation_param, automatic_param};
constexpr std::array turn_result{
    always("session_id", id, "the session"),
    always("generation", integer, "its fencing token"),
    always_one_of<Status>("status", "of the session, now"),
    always("changed", boolean, "false when it was so before"),
};

JsonObject render(const TurnReply& reply) {
    return {{"session_id", reply.session_id.text()},
            {"generation", reply.generation},
            {"status", name_in(status_names, reply.status)},
            {"changed", reply.changed}};
}

struct Asked {
    bool on = false;
    ConnectionId connection = ConnectionId::none;
    const SessionId& session;
    Attachments::Ticket ticket = 0;
};

/// Only a hosted session is held by whoever began its turn.
void note(Attachments& attachments, const Asked& asked, const Result<Reply>& reply) {
    constexpr auto kind = Attachments::Kind::turn;
    if (!reply) {
        if (asked.on) attachments.refused(kind, asked.connection, asked.session, asked.ticket);
        return;
    }
    const auto& turn = std::get<TurnReply>(*reply);
    if (asked.on && turn.is_hosted) {
        attachments.confirm(kind, asked.connection, asked.session, turn.generation);
    } else {
        attachments.left(kind, asked.connection, asked.session, asked.ticket);
    }
}

void turn(Call&& call, Backend& backend, bool on) {
    auto given = given_of<turn_params>(call);
    Turn turn;
    turn.session_id = given.get<"session_id">();
    turn.generation = given.get_as<Generation, "generation">();
    turn.on = on;
    turn.is_automatic = given.get<"automatic">();
    turn.window = backend.turn_window();
    if (given.error()) return call.respond(given.failure());
    const auto connection = call.caller.connection;
    auto& attachments = call.attachments;
    Attachments::Ticket ticket = 0;
    if (on && call.stream != nullptr) {
        turn.client = connection;
        // At once: should the connection go before this is decided, that is told after it.
        ticket = attachments.enter(Attachments::Kind::turn, {connection, call.caller.describe()},
                                   *call.stream, turn.session_id);
    } else {
        ticket = attachments.ticket_of(Attachments::Kind::turn, connection, turn.session_id);
    }
    const auto session = turn.session_id;
    backend.submit(std::move(turn),
                   [on, connection, session, ticket, &attachments,
                    respond = std::move(call.respond)](Result<Reply> reply) mutable {
                       note(attachments, {on, connection, session, ticket}, reply);
                       if (!reply) return respond(std::unexpected(std::move(reply.error())));
                       respond(render(std::get<TurnReply>(*reply)));
                   });
}

void start(Call&& call, Backend& backend) {
    turn(std::move(call), backend, /*on=*/true);
}

void end(Call&& call, Backend& backend) {
    turn(std::move(call), backend, /*on=*/false);
}

constexpr std::array family{
    Method{"turn.start", "the agent began to work on a prompt", turn_params, turn_result, start,
           /*is_ordered=*/true},
    Method{"turn.end", "the agent is done with the prompt", turn_params, turn_result, end,
           /*is_ordered=*/true},
};

}  // namespace

std::span<const Method> turn_methods() {
    return family;
}

}  // namespace knell::rpc
