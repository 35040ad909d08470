#pragma once

#include <memory>
#include <utility>

#include "rpc/method.hpp"

/// Methods that change something: what they took has become a command; it is decided and made
/// durable, and what comes back is rendered.
namespace knell::rpc {

/// `render` makes the result of the reply that this command names.
template <typename Asked, typename Render = JsonObject (*)(const typename Asked::Reply&)>
void submit(Result<Asked>&& command, Respond&& respond, Backend& backend, Render render) {
    if (!command) return respond(std::unexpected(std::move(command.error())));
    backend.submit(std::move(*command),
                   [respond = std::move(respond), render](Result<Reply> reply) mutable {
                       if (!reply) return respond(std::unexpected(std::move(reply.error())));
                       respond(render(std::get<typename Asked::Reply>(*reply)));
                   });
}

/// For words that may meet an owner's death: nobody's word is to hide one that has happened, only
/// because it was not noticed yet.  What the connection asks for meanwhile is decided afterwards.
inline void after_a_look(Call&& call, Backend& backend, void (*run)(Call&&, Backend&)) {
    auto held = std::make_shared<Call>(std::move(call));
    held->order.wait(held->place);
    backend.after_a_look([held, &backend, run] {
        held->order.go_on(held->place, [held, &backend, run] { run(std::move(*held), backend); });
    });
}

/// Where a session may be taken by an owner that has just died: that is looked at before the answer
/// is `owned`, and `run` makes the same call once more.  `command` is what was read of it.
template <typename Asked, typename Render>
void submit_or_look(Result<Asked>&& command, Call&& call, Backend& backend, Render render,
                    void (*run)(Call&&, Backend&)) {
    if (!command) return call.respond(std::unexpected(std::move(command.error())));
    auto held = std::make_shared<Call>(std::move(call));
    backend.submit(std::move(*command), [held, &backend, render, run](Result<Reply> reply) {
        if (!reply && reply.error().code == ErrorCode::owned) {
            return after_a_look(std::move(*held), backend, run);
        }
        if (!reply) return held->respond(std::unexpected(std::move(reply.error())));
        held->respond(render(std::get<typename Asked::Reply>(*reply)));
    });
}

/// What was read, unless something in it is wrong.
template <typename Made>
Result<Made> if_good(const wire::FieldReader& given, Made made) {
    if (given.error()) return given.failure();
    return made;
}

}  // namespace knell::rpc
