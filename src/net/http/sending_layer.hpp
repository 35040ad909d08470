#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/buffers_iterator.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/beast/websocket/teardown.hpp>

#include "base/release.hpp"

namespace knell::net::http {

/// A socket whose output goes through one queue: whoever writes to it writes whole frames, and none
/// of them comes into the middle of another.  So messages need not go through Beast's own writes,
/// which cost a system call each; Beast writes what it must say by itself (pongs, pings, closes).
///
/// What the socket does not take at once waits in the queue.  Beast's writes are done when they are
/// queued, and wait while the queue is long: a client that pings and never reads fills nothing.
/// One thread.
class SendingLayer {
  public:
    using Socket = boost::asio::ip::tcp::socket;
    using next_layer_type = Socket;  // NOLINT(readability-identifier-naming): Beast looks for these
    using executor_type = Socket::executor_type;  // NOLINT(readability-identifier-naming)

    explicit SendingLayer(Socket socket) : socket_(std::move(socket)) {
        boost::system::error_code failed;  // the first write says so too
        socket_.non_blocking(true, failed);
    }

    executor_type get_executor() { return socket_.get_executor(); }
    Socket& next_layer() { return socket_; }
    const Socket& next_layer() const { return socket_; }

    /// `sent` is called when all that waited has left, or the socket is of no use any more; until
    /// then `owner`, which holds this, is kept.
    void on_sent(std::weak_ptr<void> owner, std::function<void(boost::system::error_code)> sent) {
        owner_ = std::move(owner);
        sent_ = std::move(sent);
    }

    /// Whole frames.  Nothing that is put while something waits leaves before that.
    boost::system::error_code put(std::string_view frames) {
        if (!waiting_.empty()) {
            waiting_ += frames;
            return {};
        }
        boost::system::error_code error;
        const auto taken = socket_.write_some(boost::asio::buffer(frames), error);
        if (is_full(error)) error.clear();
        if (!error && taken < frames.size()) {
            waiting_ = frames.substr(taken);
            wait();
        }
        return error;
    }
    std::size_t unsent() const { return waiting_.size(); }
    void drop_unsent() { release(waiting_); }

    template <typename Buffers, typename Token>
    auto async_read_some(const Buffers& buffers, Token&& token) {
        return socket_.async_read_some(buffers, std::forward<Token>(token));
    }

    template <typename Buffers, typename Token>
    auto async_write_some(const Buffers& buffers, Token&& token) {
        using Signature = void(boost::system::error_code, std::size_t);
        return boost::asio::async_initiate<Token, Signature>(
            [this](auto handler, const Buffers& given) {
                const std::string frame(boost::asio::buffers_begin(given),
                                        boost::asio::buffers_end(given));
                const auto error = put(frame);
                const auto done = error ? 0 : frame.size();
                if (unsent() < unsent_max) {
                    return boost::asio::post(socket_.get_executor(),
                                             [handler = std::move(handler), error, done]() mutable {
                                                 std::move(handler)(error, done);
                                             });
                }
                socket_.async_wait(Socket::wait_write,
                                   [handler = std::move(handler),
                                    done](boost::system::error_code cancelled) mutable {
                                       std::move(handler)(cancelled, cancelled ? 0 : done);
                                   });
            },
            token, buffers);
    }

    template <typename Handler>
    friend void async_teardown(boost::beast::role_type role, SendingLayer& layer,
                               Handler&& handler) {
        boost::beast::websocket::async_teardown(role, layer.socket_,
                                                std::forward<Handler>(handler));
    }

  private:
    static constexpr std::size_t unsent_max = 64U << 10U;

    static bool is_full(const boost::system::error_code& error) {
        return error == boost::asio::error::would_block || error == boost::asio::error::try_again;
    }

    void wait() {
        socket_.async_wait(
            Socket::wait_write,
            [this, kept = owner_.lock()](boost::system::error_code error) { send_more(error); });
    }
    void send_more(boost::system::error_code error) {
        if (!error && !waiting_.empty()) {
            const auto taken = socket_.write_some(boost::asio::buffer(waiting_), error);
            if (is_full(error)) error.clear();
            waiting_.erase(0, taken);
            if (!error && !waiting_.empty()) return wait();
        }
        release(waiting_);
        if (sent_) sent_(error);
    }

    Socket socket_;
    std::string waiting_;
    std::weak_ptr<void> owner_;
    std::function<void(boost::system::error_code)> sent_;
};

}  // namespace knell::net::http
