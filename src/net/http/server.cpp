#include "net/http/server.hpp"

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <netinet/tcp.h>

#include "net/http/connection.hpp"
#include "net/http/peer.hpp"
#include "net/http/response.hpp"
#include "net/relief.hpp"

namespace knell::net::http {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Out of descriptors or memory: accepting again at once would spin.
constexpr std::chrono::milliseconds accept_pause{50};
/// What was sent and is not acknowledged for so long ends a connection: whoever is cut off from the
/// network hangs up in no other way.
constexpr int unacknowledged_ms_max = 25'000;

std::string text_of(const tcp::endpoint& endpoint) {
    const bool is_v6 = endpoint.address().is_v6();
    return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", endpoint.address().to_string(),
                       is_v6 ? "]" : "", endpoint.port());
}

/// What a client may name; nobody is reached by "any address".
std::string listen_host(const tcp::endpoint& endpoint) {
    const auto& address = endpoint.address();
    if (address.is_unspecified()) return {};
    return address.is_v6() ? "[" + address.to_string() + "]" : address.to_string();
}

}  // namespace

class Server::Impl final : public EventLoop::Service {
  public:
    Impl(EventLoop& loop, rpc::Dispatcher& dispatcher, ClientCount& clients,
         std::function<bool()> is_ready, const Deadlines& deadlines)
        : loop_(loop),
          clients_(clients),
          common_(std::make_shared<Common>(
              Common{.dispatcher = dispatcher,
                     .is_ready = std::move(is_ready),
                     .adopt = [this](std::shared_ptr<Peer> peer) { serve(std::move(peer)); },
                     .deadlines = deadlines,
                     .rules = std::make_shared<const Rules>(),
                     .asked = {bounds::bodies_all_max, [] {}},
                     .half_read = {limits::half_read_bytes_all_max, [this] { relieve_soon(); }},
                     .unsent = {bounds::answers_all_max, [this] { relieve_soon(); }}})) {
        loop_.add(*this);
    }

    std::size_t set_rules(Rules rules) {
        const auto before = std::exchange(rules_, std::move(rules));
        publish_rules();
        const bool full_changed = before.tokens.full != rules_.tokens.full;
        const bool read_changed = before.tokens.read_only != rules_.tokens.read_only;
        const bool less_allowed = before.allow_processes && !rules_.allow_processes;
        // It is called every second, and there may be thousands.
        if (!full_changed && !read_changed && !less_allowed) return 0;
        return close_those([&](rpc::Access access) {
            if (access == rpc::Access::read_only) return read_changed;
            return full_changed || (access == rpc::Access::processes && less_allowed);
        });
    }

    void close_clients() {
        for (const auto& peer : all_peers()) peer->close();
    }

    Result<std::string> listen(const std::string& ip, std::uint16_t port) {
        error_code error;
        const auto address = asio::ip::make_address(ip, error);
        const tcp::endpoint wanted(address, port);
        tcp::acceptor acceptor(io_);
        if (!error) acceptor.open(wanted.protocol(), error);
        if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
        if (!error && wanted.protocol() == tcp::v6()) {
            acceptor.set_option(asio::ip::v6_only(true), error);
        }
        if (!error) acceptor.bind(wanted, error);
        if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
        if (error) {
            return fail(
                error == asio::error::address_in_use ? ErrorCode::blocked : ErrorCode::internal,
                fmt::format("cannot listen at {}: {}", text_of(wanted), error.message()));
        }
        stop_listening();
        acceptor_ = std::move(acceptor);
        const auto bound = acceptor_.local_endpoint(error);
        listen_host_ = listen_host(bound);
        publish_rules();
        asio::co_spawn(io_, accept_loop(++accept_number_), asio::detached);
        return text_of(bound);
    }

    void stop_listening() {
        error_code ignored;
        acceptor_.close(ignored);
        ++accept_number_;
    }

    void close_door() override { stop_listening(); }
    bool is_busy() const override {
        return std::ranges::any_of(peers_,
                                   [](const auto& entry) { return entry.second->is_busy(); });
    }

    std::size_t client_count() const { return count_; }

  private:
    void publish_rules() {
        auto rules = rules_;
        rules.listen_host = listen_host_;
        common_->rules = std::make_shared<const Rules>(std::move(rules));
    }

    /// Closing one may change the table.
    std::vector<std::shared_ptr<Peer>> all_peers() const {
        std::vector<std::shared_ptr<Peer>> all;
        for (const auto& [key, peer] : peers_) all.push_back(peer);
        return all;
    }

    /// Of those that were let in for good: how many.
    std::size_t close_those(const std::function<bool(rpc::Access)>& must_go) {
        std::size_t closed = 0;
        for (const auto& peer : all_peers()) {
            const auto access = peer->let_in_by();
            if (!access || !must_go(*access)) continue;
            peer->close();
            ++closed;
        }
        return closed;
    }

    asio::awaitable<void> accept_loop(std::uint64_t number) {
        while (number == accept_number_) {
            error_code error;
            auto token = asio::redirect_error(asio::use_awaitable, error);
            auto socket = co_await acceptor_.async_accept(token);
            if (number != accept_number_) co_return;
            if (!error) {
                let_in(std::move(socket));
                continue;
            }
            accept_timer_.expires_after(accept_pause);
            error_code ignored;
            auto pause = asio::redirect_error(asio::use_awaitable, ignored);
            co_await accept_timer_.async_wait(pause);
        }
    }

    void let_in(Socket socket) {
        error_code error;
        const auto remote = socket.remote_endpoint(error);
        if (error) return;
        if (!has_room() && !make_room()) return turn_away(std::move(socket));
        socket.set_option(tcp::no_delay(true), error);
        const int unacknowledged = unacknowledged_ms_max;
        ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged,
                     sizeof unacknowledged);
        serve(make_connection(std::move(socket), text_of(remote), remote.address().to_string(),
                              common_));
    }

    bool has_room() const { return !clients_.is_full() && count_ < clients_.network_max(); }
    /// Its descriptor is free at once; it is counted until it has noticed.
    bool make_room() {
        auto* stranger = common_->strangers.first();
        if (stranger == nullptr) return false;
        stranger->close();
        return true;
    }

    /// Best effort: it is about to be closed whether it reads this or not.
    void turn_away(Socket socket) const {
        const auto text = whole_text(response_to(
            Error{ErrorCode::limit,
                  fmt::format("{} clients are connected, the most this daemon takes; close some",
                              clients_.open()),
                  {},
                  {}},
            503));
        error_code ignored;
        socket.non_blocking(true, ignored);
        socket.write_some(asio::buffer(text), ignored);
        socket.close(ignored);
    }

    void serve(std::shared_ptr<Peer> peer) {
        auto* key = peer.get();
        peers_.emplace(key, peer);  // first: it may be over before this returns
        clients_.enter();
        ++count_;
        asio::co_spawn(io_, peer->serve(), [this, key](const std::exception_ptr&) {
            peers_.erase(key);
            clients_.leave();
            --count_;
        });
    }

    /// Later, not in the middle of what somebody is being sent or read from.
    void relieve_soon() {
        if (std::exchange(relief_posted_, true)) return;
        asio::post(io_, [this] {
            relief_posted_ = false;
            relieve(
                common_->unsent, peers_, [](const auto& all) { return worst_taker(all); },
                [](Peer& peer) { peer.give_up_unsent(); });
            relieve(
                common_->half_read, peers_, [](const auto& all) { return most_half_read(all); },
                [](Peer& peer) { peer.give_up_half_read(); });
        });
    }

    EventLoop& loop_;
    asio::io_context& io_ = loop_.context();
    ClientCount& clients_;
    std::atomic<std::size_t> count_ = 0;  // of these clients
    bool relief_posted_ = false;
    Rules rules_;
    std::string listen_host_;
    const std::shared_ptr<Common> common_;
    tcp::acceptor acceptor_{io_};
    asio::steady_timer accept_timer_{io_};
    std::uint64_t accept_number_ = 0;  // of the address that is listened at
    // A coroutine and late answers share a client with this table.
    std::unordered_map<Peer*, std::shared_ptr<Peer>> peers_;
};

Server::Server(EventLoop& loop, rpc::Dispatcher& dispatcher, ClientCount& clients,
               std::function<bool()> is_ready, const Deadlines& deadlines)
    : impl_(std::make_unique<Impl>(loop, dispatcher, clients, std::move(is_ready), deadlines)) {}
Server::~Server() = default;

std::size_t Server::set_rules(Rules rules) {
    return impl_->set_rules(std::move(rules));
}
Result<std::string> Server::listen(const std::string& ip, std::uint16_t port) {
    return impl_->listen(ip, port);
}
void Server::stop_listening() {
    impl_->stop_listening();
}
void Server::close_clients() {
    impl_->close_clients();
}
std::size_t Server::client_count() const {
    return impl_->client_count();
}

}  // namespace knell::net::http
