// turn.start and turn.end: the agent begins and ends its work on a prompt.

#include "rpc/change.hpp"
#include "rpc/method_table.hpp"
#include "wire/session_fields.hpp"

namespace knell::rpc {

namespace {

using namespace wire::fields;

constexpr std::array turn_params{session_param, generation_param};
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

void turn(Call&& call, Backend& backend, bool on) {
    auto given = given_of<turn_params>(call);
    Turn turn;
    turn.session_id = given.get<"session_id">();
    turn.generation = given.get_as<Generation, "generation">();
    turn.on = on;
    submit(if_good(given, std::move(turn)), std::move(call.respond), backend, render);
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
