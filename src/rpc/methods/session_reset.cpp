// session.reset and session.suspend: a person wants a new conversation, now or with the next
// message.

#include "rpc/change.hpp"
#include "rpc/method_table.hpp"
#include "rpc/session_params.hpp"

namespace knell::rpc {

namespace {

using namespace session_rows;

constexpr Field named_session_param{
    .name = "session_id", .type = id, .about = "the session; or name it by its key"};
constexpr Field named_key_param{.name = "key",
                                .type = text,
                                .max = limits::key_bytes_max,
                                .about = "of the session: its open one, else the newest"};

/// By its id or by its key, whichever is given.
template <const auto& table>
SessionName read_name(wire::Given<table>& given) {
    SessionName name{given.template get<"session_id">(), given.template get<"key">()};
    if (name.session_id.empty() == name.key.empty()) {
        given.reject("session_id", name.key.empty() ? "is required, or key"
                                                    : "does not go with key: name the one or the "
                                                      "other");
    }
    return name;
}

// --- session.reset ------------------------------------------------------------------------------

constexpr std::array reset_params{
    named_session_param,
    named_key_param,
    Field{.name = "force",
          .type = boolean,
          .standard = 0,
          .about = "whatever background work it has; else that answers blocked"},
};
constexpr std::array reset_result =
    joined(closed_result, std::array{
                              only("it had ended before, and the next message would have gone on "
                                   "with it",
                                   "suspended", boolean, "true: not any more"),
                          });

JsonObject render(const ResetReply& reply) {
    auto result = render_closed(reply.closed);
    if (reply.is_suspended) result["suspended"] = true;
    return result;
}

void reset_now(Call&& call, Backend& backend) {
    auto given = given_of<reset_params>(call);
    Reset reset;
    reset.name = read_name(given);
    reset.force = given.get<"force">();
    reset.said_by = call.caller.describe();
    submit(if_good(given, std::move(reset)), std::move(call.respond), backend, render);
}

void reset(Call&& call, Backend& backend) {
    after_a_look(std::move(call), backend, reset_now);
}

// --- session.suspend ----------------------------------------------------------------------------

constexpr std::array suspend_params{
    named_session_param,
    named_key_param,
    Field{.name = "why",
          .type = text,
          .may_be_empty = true,
          .max = limits::detail_bytes_max,
          .about = "free text"},
};
constexpr std::array suspend_result{
    always("session_id", id, "the session"),
    always("generation", integer, "its fencing token"),
    always("changed", boolean, "false when it was so before"),
};

JsonObject render(const SuspendedReply& reply) {
    return {{"session_id", reply.session_id.text()},
            {"generation", reply.generation},
            {"changed", reply.changed}};
}

void suspend(Call&& call, Backend& backend) {
    auto given = given_of<suspend_params>(call);
    Suspend suspend;
    suspend.name = read_name(given);
    suspend.why = given.get<"why">();
    suspend.said_by = call.caller.describe();
    submit(if_good(given, std::move(suspend)), std::move(call.respond), backend, render);
}

constexpr std::array family{
    Method{"session.reset", "end a conversation; the next message begins a new one", reset_params,
           reset_result, reset},
    Method{"session.suspend", "let the next message begin a new conversation", suspend_params,
           suspend_result, suspend, /*is_ordered=*/true},
};

}  // namespace

std::span<const Method> session_reset_methods() {
    return family;
}

}  // namespace knell::rpc
