#include "rpc/dispatcher.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <poll.h>

#include "core/limits.hpp"
#include "rpc/method_table.hpp"

namespace knell::rpc {

UnixPeer Dispatcher::identify(pid_t pid, uid_t uid, int pidfd) const {
    UnixPeer peer{.pid = pid, .uid = uid};
    if (pid <= 0) return peer;
    peer.process = backend_.processes().identify(pid);
    peer.pid_namespace = backend_.processes().pid_namespace_of(pid);
    pollfd look{.fd = pidfd, .events = POLLIN, .revents = 0};
    if (pidfd >= 0 && poll(&look, 1, 0) > 0) {
        // Ended before we looked: what was read may be about the next holder of its pid.
        peer.process.reset();
        peer.pid_namespace = 0;
    }
    return peer;
}

namespace {

/// Pages end long before; this is for what has none.
Error too_long(std::string_view line) {
    return {ErrorCode::limit,
            fmt::format("the answer is {} bytes long; at most {} are sent. Ask for less, with a "
                        "lower limit or a filter",
                        line.size(), limits::answer_bytes_max),
            {},
            {}};
}

}  // namespace

void Dispatcher::handle(std::string_view line, const Caller& caller,
                        std::move_only_function<void(std::string)> reply, Stream* stream) {
    auto request = wire::parse_request(line);
    if (!request) {
        reply(wire::error_line(request.error().id, request.error().error));
        return;
    }
    const auto method = std::ranges::find(methods(), request->method, &Method::name);
    const bool is_known = method != methods().end();
    const auto name = is_known ? method->name : std::string_view{};
    Respond respond(
        [id = std::move(request->id), silent = request->is_notification,
         reply = std::move(reply)](Result<Json> result) mutable {
            if (silent) return reply({});
            if (!result) return reply(wire::error_line(id, result.error()));
            auto told = wire::result_line(id, *result);
            if (told.size() > limits::answer_bytes_max) told = wire::error_line(id, too_long(told));
            reply(std::move(told));
        },
        [&backend = backend_, name](Respond::Answer answer) {
            backend.forgotten(name, [answer = std::move(answer), name]() mutable {
                answer(fail(ErrorCode::internal,
                            fmt::format("{} was not answered; this is a bug in knell, and what "
                                        "became of the call is not known",
                                        name)));
            });
        });
    if (!is_known) {
        respond(
            fail(ErrorCode::method_not_found,
                 fmt::format("no method {:.64}; `knell rpc --list` lists them", request->method)));
        return;
    }
    method->run(Call{std::move(request->params), caller, std::move(respond), stream, trace_},
                backend_);
}

void Dispatcher::refuse(std::string_view line, const Error& why,
                        std::move_only_function<void(std::string)> reply) const {
    const auto request = wire::parse_request(line);
    if (!request) return reply(wire::error_line(request.error().id, request.error().error));
    reply(request->is_notification ? std::string{} : wire::error_line(request->id, why));
}

}  // namespace knell::rpc
