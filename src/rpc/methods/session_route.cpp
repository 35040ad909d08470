// session.route: a message came in for a key, and its session is found, opened again, or opened.

#include "rpc/change.hpp"
#include "rpc/method_table.hpp"
#include "rpc/methods/reset_row.hpp"
#include "rpc/session_params.hpp"

namespace knell::rpc {

namespace {

using namespace session_rows;

constexpr Field routed_key_param = [] {
    auto row = key_param;
    row.required = true;
    row.may_be_empty = false;
    return row;
}();
constexpr std::array route_params{
    routed_key_param, source_param, platform_param,  chat_type_param, user_id_param,
    model_param,      title_param,  cwd_param,       owner_param,     on_owner_loss_param,
    park_param,       meta_param,   automatic_param,
};

constexpr std::array auto_reset_kinds{std::string_view{"idle"}, std::string_view{"daily"},
                                      std::string_view{"suspended"}};
constexpr std::array auto_reset_fields{
    always("prior_session_id", id, "the session whose conversation is over"),
    Field{.name = "reason",
          .type = choice,
          .required = true,
          .choices = auto_reset_kinds,
          .about = "why"},
};
constexpr std::array route_result = joined(
    opened_result, std::array{
                       always("new", boolean, "whether it was opened by this call"),
                       only("it was opened again, under the next generation", "resumed", boolean,
                            "true: its conversation goes on"),
                       with_object(only("it takes the place of one that was past its policy",
                                        "auto_reset", object, "of which"),
                                   "", auto_reset_fields),
                       with_object(only("its reset is due, and background work holds it back",
                                        "deferred", object, "by what"),
                                   "", reset_rows::held_fields),
                   });

JsonObject render(const RoutedReply& reply) {
    auto result = render_opened(reply.session);
    result["new"] = reply.is_new;
    if (reply.is_resumed) result["resumed"] = true;
    if (const auto& reset = reply.auto_reset) {
        result["auto_reset"] =
            JsonObject{{"prior_session_id", reset->prior.text()}, {"reason", reset->reason}};
    }
    if (reply.held) result["deferred"] = render_held(*reply.held);
    return result;
}

Result<Route> read_route(const Call& call, Surroundings& here) {
    auto given = given_of<route_params>(call);
    Route route;
    auto& draft = route.draft;
    draft.id = here.new_session_id();
    read_conversation(given, draft);
    draft.owner = read_owner(given, given.object<"owner", owner_params>(), call.caller, here);
    route.said_by = call.caller.describe();
    route.is_automatic = given.get<"automatic">();
    return if_good(given, std::move(route));
}

void route_now(Call&& call, Backend& backend) {
    submit(read_route(call, backend), std::move(call.respond), backend, render);
}

/// The gateway that owned it may have died a moment ago, and the one that took its place asks.
void route(Call&& call, Backend& backend) {
    auto command = read_route(call, backend);
    submit_or_look(std::move(command), std::move(call), backend, render, route_now);
}

constexpr std::array family{
    Method{"session.route", "find or open the session that a message is for", route_params,
           route_result, route, /*is_ordered=*/true},
};

}  // namespace

std::span<const Method> session_route_methods() {
    return family;
}

}  // namespace knell::rpc
