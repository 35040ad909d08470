#include "net/server.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <sys/socket.h>

#include "core/limits.hpp"
#include "net/connection.hpp"
#include "net/listener.hpp"
#include "net/relief.hpp"
#include "platform/fd.hpp"
#include "wire/envelope.hpp"

namespace knell::net {

namespace asio = boost::asio;
using boost::system::error_code;
using Protocol = asio::local::stream_protocol;

namespace {

/// Out of descriptors or memory: accepting again at once would spin.
constexpr std::chrono::milliseconds accept_pause{50};

struct Admission {
    rpc::UnixPeer peer;
    std::string refusal;  // why not, or ""
};

/// Linux 6.5; Debian 12's headers do not name it yet.
#ifdef SO_PEERPIDFD
constexpr int peerpidfd_option = SO_PEERPIDFD;
#else
constexpr int peerpidfd_option = 77;
#endif

Fd peer_pidfd(int socket) {
    int pidfd = -1;
    socklen_t size = sizeof pidfd;
    if (getsockopt(socket, SOL_SOCKET, peerpidfd_option, &pidfd, &size) != 0) return Fd{};
    return Fd{pidfd};
}

Admission look_at(int socket, const rpc::Dispatcher& dispatcher) {
    ucred known{};
    socklen_t size = sizeof known;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &known, &size) != 0) {
        return {{}, "cannot tell who is calling"};
    }
    auto peer = dispatcher.identify(known.pid, known.uid, peer_pidfd(socket).get());
    if (known.uid != geteuid() && known.uid != 0) {
        return {peer, fmt::format("uid {} may not use the daemon of uid {}", known.uid, geteuid())};
    }
    return {std::move(peer), {}};
}

/// Best effort: the client is about to be closed whether it reads this or not.
void say_and_close(Protocol::socket socket, ErrorCode code, std::string why) {
    const auto line = wire::error_line(Error{code, std::move(why), {}, {}});
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(line), ignored);
    socket.close(ignored);
}

}  // namespace

class Server::Impl final : public EventLoop::Service {
  public:
    Impl(EventLoop& loop, rpc::Dispatcher& dispatcher, ClientCount& clients)
        : loop_(loop), dispatcher_(dispatcher), clients_(clients) {
        loop_.add(*this);
    }

    Result<void> listen(SocketAddress& address) {
        address_ = &address;
        if (auto bound = bind(); !bound) return bound;
        asio::co_spawn(io_, accept_loop(), asio::detached);
        return {};
    }

    Result<bool> keep_listening() {
        if (loop_.is_stopping() || address_->is_bound()) return false;
        auto bound = bind();
        if (!bound) return std::unexpected(bound.error());
        return true;
    }

    void close_door() override {
        error_code ignored;
        acceptor_.close(ignored);
    }
    bool is_busy() const override {
        return std::ranges::any_of(connections_,
                                   [](const auto& entry) { return entry.second->is_busy(); });
    }

  private:
    Result<void> bind() {
        auto listener = address_->bind();
        if (!listener) return std::unexpected(listener.error());
        error_code error;
        if (acceptor_.is_open()) {
            // Who called the old socket before it vanished still waits in its queue.
            acceptor_.non_blocking(true, error);
            while (!error) {
                auto socket = acceptor_.accept(io_, error);
                if (!error) admit(std::move(socket));
            }
            acceptor_.close(error);
        }
        acceptor_.assign(Protocol(), listener->release(), error);
        if (error) return fail(ErrorCode::internal, "cannot listen: " + error.message());
        return {};
    }

    asio::awaitable<void> accept_loop() {
        while (acceptor_.is_open()) {
            error_code error;
            auto token = asio::redirect_error(asio::use_awaitable, error);
            auto socket = co_await acceptor_.async_accept(token);
            if (!error) {
                admit(std::move(socket));
            } else if (error == asio::error::operation_aborted) {
                continue;  // the socket was bound anew, or this is the end
            } else if (acceptor_.is_open()) {
                accept_timer_.expires_after(accept_pause);
                error_code ignored;
                auto pause = asio::redirect_error(asio::use_awaitable, ignored);
                co_await accept_timer_.async_wait(pause);
            }
        }
    }

    void admit(Protocol::socket socket) {
        auto [peer, refusal] = look_at(socket.native_handle(), dispatcher_);
        if (!refusal.empty()) {
            return say_and_close(std::move(socket), ErrorCode::unauthorized, std::move(refusal));
        }
        if (clients_.is_full()) {
            return say_and_close(
                std::move(socket), ErrorCode::limit,
                fmt::format("{} connections are open, the most this daemon takes; close some",
                            clients_.max()));
        }
        const rpc::Caller caller{std::move(peer), dispatcher_.new_connection()};
        auto connection =
            std::make_shared<Connection>(std::move(socket), caller, dispatcher_, budgets_);
        auto* key = connection.get();
        connections_.emplace(key, connection);
        clients_.enter();
        asio::co_spawn(io_, connection->serve(), [this, key](const std::exception_ptr&) {
            connections_.erase(key);
            clients_.leave();
        });
    }

    /// Later, not in the middle of what somebody is being sent or read from.
    void relieve_soon() {
        if (std::exchange(relief_posted_, true)) return;
        asio::post(io_, [this] {
            relief_posted_ = false;
            relieve(
                budgets_->unsent, connections_, [](const auto& all) { return worst_taker(all); },
                [](Connection& one) { one.give_up_unsent(); });
            relieve(
                budgets_->half_read, connections_,
                [](const auto& all) { return most_half_read(all); },
                [](Connection& one) { one.give_up_half_read(); });
        });
    }

    EventLoop& loop_;
    asio::io_context& io_ = loop_.context();
    rpc::Dispatcher& dispatcher_;
    ClientCount& clients_;
    bool relief_posted_ = false;
    /// Past the first no call is taken, so it needs no relief.
    const std::shared_ptr<Connection::Budgets> budgets_ =
        std::make_shared<Connection::Budgets>(Connection::Budgets{
            .asked = {limits::asked_bytes_all_max, [] {}},
            .half_read = {limits::half_read_bytes_all_max, [this] { relieve_soon(); }},
            .unsent = {limits::unsent_bytes_all_max, [this] { relieve_soon(); }}});

    SocketAddress* address_ = nullptr;  // since `listen`
    Protocol::acceptor acceptor_{io_};
    asio::steady_timer accept_timer_{io_};
    // A coroutine and late answers share a connection with this table: it is the one place where
    // the end of an object is not known beforehand.
    std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
};

Server::Server(EventLoop& loop, rpc::Dispatcher& dispatcher, ClientCount& clients)
    : impl_(std::make_unique<Impl>(loop, dispatcher, clients)) {}
Server::~Server() = default;

Result<void> Server::listen(SocketAddress& address) {
    return impl_->listen(address);
}
Result<bool> Server::keep_listening() {
    return impl_->keep_listening();
}

}  // namespace knell::net
