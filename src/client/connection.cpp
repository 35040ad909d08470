#include "client/connection.hpp"

#include <cerrno>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include "client/socket.hpp"
#include "core/limits.hpp"
#include "wire/envelope.hpp"
#include "wire/error_table.hpp"

namespace knell::client {

namespace {

/// False when the deadline passed first.
bool wait_until_ready(int fd, short events, const Deadline& deadline) {
    for (;;) {
        pollfd poll_fd{.fd = fd, .events = events, .revents = 0};
        const int count = ::poll(&poll_fd, 1, deadline.poll_millis());
        if (count > 0) return true;
        if (count == 0 || errno != EINTR) return false;
    }
}

bool should_wait(int error) {
    return error == EAGAIN || error == EWOULDBLOCK;
}

}  // namespace

Result<Connection> Connection::open(const std::string& socket, const Deadline& deadline) {
    auto fd = connect_socket(socket, deadline);
    if (!fd) return std::unexpected(std::move(fd.error()));
    return Connection{socket, std::move(*fd)};
}

std::unexpected<Error> Connection::lost(std::string_view method) {
    fd_.reset();
    return fail(ErrorCode::unreachable,
                fmt::format("the daemon at {} closed the connection before it answered {}. See "
                            "whether it runs with: knell status",
                            socket_, method));
}

std::unexpected<Error> Connection::too_late(std::string_view method) {
    fd_.reset();
    return fail(ErrorCode::unreachable,
                fmt::format("the daemon at {} did not answer {} in time; whether it was done is "
                            "not known. Look with: knell status",
                            socket_, method));
}

std::unexpected<Error> Connection::not_json_rpc() {
    fd_.reset();
    return fail(ErrorCode::internal,
                fmt::format("what answers at {} does not speak JSON-RPC", socket_));
}

Result<void> Connection::send_line(std::string_view line, std::string_view method,
                                   const Deadline& deadline) {
    while (!line.empty()) {
        const auto sent = ::send(fd_.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            line.remove_prefix(static_cast<std::size_t>(sent));
        } else if (should_wait(errno)) {
            if (!wait_until_ready(fd_.get(), POLLOUT, deadline)) return too_late(method);
        } else if (errno == EPIPE || errno == ECONNRESET) {
            return {};  // it has hung up, but may have said why: that is read next
        } else if (errno != EINTR) {
            return lost(method);
        }
    }
    return {};
}

std::optional<std::string> Connection::next_line() {
    const auto end = received_.find('\n', searched_);
    if (end == std::string::npos) {
        // Moved to the front once for each piece received, not once for each line.
        received_.erase(0, taken_);
        taken_ = 0;
        searched_ = received_.size();
        return std::nullopt;
    }
    auto line = received_.substr(taken_, end - taken_);
    taken_ = searched_ = end + 1;
    return line;
}

Connection::Received Connection::receive_some() {
    char chunk[65'536];
    for (;;) {
        const auto count = ::recv(fd_.get(), chunk, sizeof chunk, MSG_DONTWAIT);
        if (count > 0) {
            received_.append(chunk, static_cast<std::size_t>(count));
            return Received::something;
        }
        if (count < 0 && should_wait(errno)) return Received::nothing_yet;
        if (count == 0 || errno != EINTR) return Received::the_end;
    }
}

Result<std::string> Connection::receive_line(std::string_view method, const Deadline& deadline) {
    for (;;) {
        if (auto line = next_line()) return std::move(*line);
        if (received_.size() > answer_bytes_max) {
            fd_.reset();
            return fail(ErrorCode::limit, fmt::format("the answer to {} is longer than {} bytes",
                                                      method, answer_bytes_max));
        }
        switch (receive_some()) {
            case Received::something:
                break;
            case Received::nothing_yet:
                if (!wait_until_ready(fd_.get(), POLLIN, deadline)) return too_late(method);
                break;
            case Received::the_end:
                return lost(method);
        }
    }
}

Result<void> Connection::keep(std::string&& line) {
    told_bytes_ += line.size();
    if (told_bytes_ > answer_bytes_max) {
        fd_.reset();
        return fail(ErrorCode::limit,
                    fmt::format("the daemon told {} bytes before it answered; follow events on a "
                                "connection of their own",
                                told_bytes_));
    }
    told_.push_back(std::move(line));
    return {};
}

Result<std::optional<JsonObject>> Connection::take_notification() {
    for (;;) {
        std::optional<std::string> line;
        if (!told_.empty()) {
            line = std::move(told_.front());
            told_.pop_front();
            told_bytes_ -= line->size();
        } else {
            line = next_line();
        }
        if (!line) {
            const auto received = fd_ ? receive_some() : Received::the_end;
            if (received == Received::something) continue;
            if (received == Received::nothing_yet) return std::nullopt;
            fd_.reset();
            return fail(ErrorCode::unreachable,
                        fmt::format("the daemon at {} closed the connection", socket_));
        }
        auto said = wire::parse_json(*line);
        if (!said || !said->is_object()) return not_json_rpc();
        auto& object = said->get_object();
        if (const auto* error = wire::object_at(object, "error")) {
            return std::unexpected(wire::error_from_json(*error));
        }
        if (object.contains("method")) return std::move(object);
    }
}

Result<JsonObject> Connection::call_raw(std::string_view method, const JsonObject& params,
                                        const Deadline& deadline) {
    if (!fd_) return lost(method);
    const auto id = ++last_id_;
    const auto request = wire::request_line(id, method, params);
    if (request.size() > limits::line_bytes_max) {
        return fail(ErrorCode::limit, fmt::format("the call of {} is {} bytes long; at most {} "
                                                  "are taken",
                                                  method, request.size(), limits::line_bytes_max));
    }
    if (auto sent = send_line(request, method, deadline); !sent) {
        return std::unexpected(std::move(sent.error()));
    }
    for (;;) {
        auto line = receive_line(method, deadline);
        if (!line) return std::unexpected(std::move(line.error()));
        auto answer = wire::parse_json(*line);
        if (!answer || !answer->is_object()) return not_json_rpc();
        auto& object = answer->get_object();
        // A line without an id is something the daemon tells on its own, such as an event.  An
        // error under the id null is our answer: our request could not be read.
        const bool ours = wire::int_at(object, "id", -1) == id || object.contains("error");
        if (ours) return std::move(object);
        if (auto kept = keep(std::move(*line)); !kept) return std::unexpected(kept.error());
    }
}

Result<Json> Connection::call(std::string_view method, const JsonObject& params,
                              const Deadline& deadline) {
    auto answer = call_raw(method, params, deadline);
    if (!answer) return std::unexpected(std::move(answer.error()));
    if (const auto* error = wire::object_at(*answer, "error")) {
        return std::unexpected(wire::error_from_json(*error));
    }
    auto* result = answer->if_contains("result");
    if (result == nullptr) {
        return fail(ErrorCode::internal,
                    fmt::format("the daemon's answer to {} holds no result", method));
    }
    return std::move(*result);
}

Result<Json> Connection::call(std::string_view method, const JsonObject& params) {
    return call(method, params, Deadline{call_timeout_default});
}

Result<JsonObject> Connection::call_object(std::string_view method, const JsonObject& params) {
    auto result = call(method, params);
    if (!result) return std::unexpected(std::move(result.error()));
    if (!result->is_object()) {
        return fail(ErrorCode::internal,
                    fmt::format("the daemon's answer to {} is not an object", method));
    }
    return std::move(result->get_object());
}

pid_t Connection::peer() const {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return 0;
    return peer.pid;
}

}  // namespace knell::client
