#include "net/http/event_stream.hpp"

#include <array>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "net/http/response.hpp"
#include "net/http/sse_framing.hpp"
#include "net/outbox.hpp"

namespace knell::net::http {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::chrono::seconds linger_time_max{2};

bool would_block(const error_code& error) {
    return error == asio::error::would_block || error == asio::error::try_again;
}

class EventStream final : public Peer,
                          public rpc::Stream,
                          public std::enable_shared_from_this<EventStream>,
                          private Outbox::Sink {
  public:
    EventStream(Socket socket, wire::Request call, rpc::Caller caller,
                std::shared_ptr<Common> common)
        : socket_(std::move(socket)),
          call_(std::move(call)),
          caller_(std::move(caller)),
          common_(std::move(common)),
          patience_(socket_.get_executor()),
          comment_(socket_.get_executor()),
          outbox_(*this, sse_framing, common_->unsent, common_->deadlines.unsent) {}

    asio::awaitable<void> serve() override {
        const auto self = shared_from_this();
        error_code error;
        socket_.non_blocking(true, error);
        common_->dispatcher.run(
            std::move(call_), caller_,
            [weak = weak_from_this()](const std::optional<wire::Answer>& answer) {
                if (const auto stream = weak.lock()) stream->begin(answer->result);
            },
            this);
        // Whatever it sends now means nothing; its end does.
        std::array<char, 4096> dropped{};
        while (!error && socket_.is_open()) {
            auto token = asio::redirect_error(asio::use_awaitable, error);
            co_await socket_.async_wait(Socket::wait_read, token);
            if (!error) socket_.read_some(asio::buffer(dropped), error);
            if (would_block(error)) error.clear();
        }
        feeds_.clear();
        close();
    }

    void close() override {
        error_code ignored;
        if (socket_.is_open()) common_->dispatcher.hung_up(caller_.connection);
        socket_.close(ignored);
        patience_.cancel();
        comment_.cancel();
        outbox_.close();
    }

    bool is_busy() const override { return false; }
    std::optional<rpc::Access> let_in_by() const override { return caller_.access(); }
    std::size_t bytes_unsent() const override { return outbox_.size(); }
    std::uint64_t last_taken() const override { return last_taken_; }
    void give_up_unsent() override { outbox_.give_up(); }

    const wire::Framing& framing() const override { return sse_framing; }
    void send(std::string_view messages) override { outbox_.put(messages); }
    std::size_t unsent() const override { return outbox_.size(); }
    void finish(const Error& why) override { outbox_.finish(why); }
    rpc::FeedSet& feeds() override { return feeds_; }

  private:
    /// Before the first event, or instead of any.
    void begin(const Result<std::string>& subscribed) {
        if (!subscribed) {
            outbox_.put(whole_text(response_to(subscribed.error())));
            return close_when_sent();
        }
        outbox_.put(head_text(200, event_stream_type) + "\r\n" + std::string(sse_comment));
        comment_later();
    }

    void comment_later() {
        comment_.expires_after(bounds::event_comment_period);
        comment_.async_wait([weak = weak_from_this()](error_code cancelled) {
            const auto self = weak.lock();
            if (cancelled || !self || !self->socket_.is_open()) return;
            // Who is sent something anyway sees that we are alive.
            if (self->outbox_.is_empty()) self->outbox_.put(sse_comment);
            self->comment_later();
        });
    }

    std::optional<std::size_t> take(std::string_view bytes) override {
        error_code error;
        const auto sent = socket_.write_some(asio::buffer(bytes), error);
        if (would_block(error)) return 0;
        if (error) return std::nullopt;
        last_taken_ = ++common_->taken;
        return sent;
    }
    void flush_soon() override {
        last_taken_ = ++common_->taken;  // nothing was waiting
        asio::post(socket_.get_executor(), [self = shared_from_this()] { self->outbox_.flush(); });
    }
    void flush_when_it_fits(std::chrono::milliseconds patience) override {
        close_after(patience);
        socket_.async_wait(Socket::wait_write, [self = shared_from_this()](error_code error) {
            self->patience_.cancel();
            if (!error) self->outbox_.flush();
        });
    }
    void on_flushed() override {
        if (is_closing_ && outbox_.is_empty()) {
            error_code ignored;
            // Not closed: unread bytes would take with them what the client has yet to read.
            socket_.shutdown(Socket::shutdown_send, ignored);
            return close_after(linger_time_max);
        }
        if (socket_.is_open()) feeds_.go_on();
    }
    void close_after(std::chrono::milliseconds time) {
        patience_.expires_after(time);
        patience_.async_wait([weak = weak_from_this()](error_code cancelled) {
            const auto self = weak.lock();
            if (!cancelled && self) self->close();
        });
    }
    void close_when_sent() override { is_closing_ = true; }

    Socket socket_;
    wire::Request call_;
    const rpc::Caller caller_;
    const std::shared_ptr<Common> common_;
    asio::steady_timer patience_;  // runs while the client does not read
    asio::steady_timer comment_;
    Outbox outbox_;
    rpc::FeedSet feeds_{1};
    std::uint64_t last_taken_ = 0;
    bool is_closing_ = false;
};

}  // namespace

std::shared_ptr<Peer> make_event_stream(Socket socket, wire::Request call, rpc::Caller caller,
                                        std::shared_ptr<Common> common) {
    return std::make_shared<EventStream>(std::move(socket), std::move(call), std::move(caller),
                                         std::move(common));
}

}  // namespace knell::net::http
