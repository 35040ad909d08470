#include "rpc/dispatcher.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <poll.h>

#include "core/limits.hpp"
#include "rpc/feeds.hpp"
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
Error too_long(std::size_t bytes) {
    return {ErrorCode::limit,
            fmt::format("the answer is {} bytes long; at most {} are sent. Ask for less, with a "
                        "lower limit or a filter",
                        bytes, limits::answer_bytes_max),
            {},
            {}};
}

wire::Answer answer_of(const Json& id, Result<wire::Rendered>&& result) {
    wire::Answer answer{wire::to_text(id), {}};
    if (!result) {
        answer.result = std::unexpected(std::move(result.error()));
        return answer;
    }
    answer.result = std::move(*result).text();
    const auto bytes = wire::result_line_bytes(answer);
    if (bytes > limits::answer_bytes_max) answer.result = std::unexpected(too_long(bytes));
    return answer;
}

/// Why that caller may not use it.
std::optional<Error> refusal(const Method& method, const Caller& caller) {
    if (caller.access() >= method.access) return std::nullopt;
    if (method.access == Access::processes && caller.access() == Access::full) {
        return Error{
            ErrorCode::unauthorized,
            fmt::format("{} starts or stops programs, or changes which ones are started; over HTTP "
                        "that needs `allow_processes: true` under `http` in config.yaml",
                        method.name),
            {},
            {}};
    }
    return Error{ErrorCode::unauthorized,
                 fmt::format("{} changes something or tells what may be secret, and this token may "
                             "only read; use the token of `knell token show`",
                             method.name),
                 {},
                 {}};
}

wire::Answer answer_of(wire::BadRequest&& bad) {
    return {wire::to_text(bad.id), std::unexpected(std::move(bad.error))};
}

}  // namespace

void Dispatcher::handle(std::string_view text, const Caller& caller, Reply reply, Stream* stream) {
    auto request = wire::parse_request(text);
    if (!request) return reply(answer_of(std::move(request.error())));
    run(std::move(*request), caller, std::move(reply), stream);
}

void Dispatcher::run(wire::Request&& request, const Caller& caller, Reply reply, Stream* stream) {
    const auto method = std::ranges::find(methods(), request.method, &Method::name);
    const bool is_known = method != methods().end();
    const auto name = is_known ? method->name : std::string_view{};
    const CallOrder::Place place{caller.connection, ++last_call_};
    Respond respond(
        [this, place, id = std::move(request.id), silent = request.is_notification,
         reply = std::move(reply)](Result<wire::Rendered> result) mutable {
            reply(silent ? std::nullopt : std::optional(answer_of(id, std::move(result))));
            order_.leave(place);
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
                 fmt::format("no method {:.64}; `knell rpc --list` lists them", request.method)));
        return;
    }
    if (auto why = refusal(*method, caller)) return respond(std::unexpected(std::move(*why)));
    Call call{std::move(request.params),
              caller,
              std::move(respond),
              stream,
              trace_,
              order_,
              attachments_,
              place};
    if (!method->is_ordered || !order_.must_queue(caller.connection)) {
        return method->run(std::move(call), backend_);
    }
    if (stream != nullptr) streams_[caller.connection] = stream;
    order_.queue(place, [this, run = method->run, call = std::move(call)]() mutable {
        // It may be gone by now.
        const auto found = streams_.find(call.caller.connection);
        call.stream = found == streams_.end() ? nullptr : found->second;
        run(std::move(call), backend_);
    });
}

void Dispatcher::hung_up(ConnectionId connection) {
    backend_.drop_reads(connection);
    streams_.erase(connection);
    auto [sessions, turns] = attachments_.take(connection);
    if (sessions.empty() && turns.empty()) return;
    backend_.observe(ClientGone{connection, std::move(sessions), std::move(turns)});
}

void Dispatcher::release(const SessionId& session, Generation generation) {
    for (const auto feed : attachments_.release(session, generation)) {
        backend_.feeds().finish(feed);
    }
}

void Dispatcher::refuse(std::string_view text, Error why, Reply reply) {
    auto request = wire::parse_request(text);
    if (!request) return reply(answer_of(std::move(request.error())));
    if (request->is_notification) return reply(std::nullopt);
    reply(answer_of(request->id, std::unexpected(std::move(why))));
}

}  // namespace knell::rpc
