#pragma once

#include <memory>
#include <utility>

#include "rpc/method.hpp"

/// Methods that change something: what they took has become a command; it is decided and made
/// durable, and what comes back is rendered.
namespace knell::rpc {

/// `render` makes the result of the reply that this command names.
template <typename Asked>
void submit(Result<Asked>&& command, Respond&& respond, Backend& backend,
            JsonObject (*render)(const typename Asked::Reply&)) {
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

/// What was read, unless something in it is wrong.
template <typename Made>
Result<Made> if_good(const wire::FieldReader& given, Made made) {
    if (given.error()) return given.failure();
    return made;
}

}  // namespace knell::rpc
