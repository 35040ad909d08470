#include "net/http/websocket.hpp"

#include <optional>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <fmt/format.h>

#include "base/release.hpp"
#include "net/http/keepalive.hpp"
#include "net/http/sending_layer.hpp"
#include "net/http/text_frame.hpp"
#include "net/outbox.hpp"
#include "platform/clock.hpp"

namespace knell::net::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

constexpr std::size_t read_step_bytes_max = 16U << 10U;
/// Most calls fit; and so much is kept for each client that says nothing.
constexpr std::size_t first_step_bytes_max = 256;
constexpr std::size_t write_step_bytes_max = 64U << 10U;
constexpr std::size_t frames_bytes_kept_max = 1U << 20U;
constexpr std::size_t idle_buffer_bytes_max = 4U << 10U;

/// One for all clients of the net thread: what is framed here leaves at once, or waits with its
/// client.
std::string& shared_frames() {
    thread_local std::string frames;
    if (frames.capacity() > frames_bytes_kept_max) release(frames);
    frames.clear();
    return frames;
}

class WebSocket final : public Peer,
                        public rpc::Stream,
                        public std::enable_shared_from_this<WebSocket>,
                        private Outbox::Sink {
  public:
    using Request = beast::http::request<beast::http::string_body>;

    WebSocket(Socket socket, Request request, rpc::Caller caller, std::shared_ptr<Common> common)
        : socket_(std::move(socket)),
          request_(std::make_unique<Request>(std::move(request))),
          caller_(std::move(caller)),
          common_(std::move(common)),
          room_(socket_.get_executor()),
          patience_(socket_.get_executor()),
          silence_(socket_.get_executor()),
          keepalive_(common_->deadlines.silence, read_awake_clock()),
          half_read_share_(common_->half_read),
          waiting_share_(common_->unsent),
          outbox_(*this, wire::json_lines, common_->unsent, common_->deadlines.unsent) {}

    asio::awaitable<void> serve() override {
        const auto self = shared_from_this();
        layer().on_sent(weak_from_this(), [this](error_code error) { on_sent(error); });
        if (co_await accept()) {
            watch_silence();
            while (is_open_ && !is_closing_) {
                if (must_wait()) {
                    co_await wait_for_room();
                } else if (!co_await read_some()) {
                    break;
                }
            }
            // Until the last is sent and the closing handshake is over.
            while (is_open_ && is_closing_) co_await wait_for_room();
        }
        feeds_.clear();
        close();
    }

    void close() override {
        if (std::exchange(is_open_, false)) common_->dispatcher.hung_up(caller_.connection);
        error_code ignored;
        beast::get_lowest_layer(socket_).close(ignored);
        room_.cancel();
        patience_.cancel();
        silence_.cancel();
        outbox_.close();
        layer().drop_unsent();
        waiting_share_.set(0);
    }

    bool is_busy() const override {
        return is_open_ && (in_flight_ > 0 || (!is_all_sent() && feeds_.is_empty()));
    }
    std::optional<rpc::Access> let_in_by() const override { return caller_.access(); }
    std::size_t bytes_unsent() const override { return outbox_.size() + layer().unsent(); }
    std::size_t bytes_half_read() const override { return buffer_.size(); }
    std::uint64_t last_taken() const override { return last_taken_; }
    void give_up_unsent() override {
        // What the socket did not take begins within a message: it goes only with the client.
        if (layer().unsent() > outbox_.size()) return close();
        outbox_.give_up();
    }
    void give_up_half_read() override { close(); }

    const wire::Framing& framing() const override { return wire::json_lines; }
    void send(std::string_view messages) override { outbox_.put(messages); }
    std::size_t unsent() const override { return bytes_unsent(); }
    void finish(const Error& why) override { outbox_.finish(why); }
    rpc::FeedSet& feeds() override { return feeds_; }

  private:
    SendingLayer& layer() { return socket_.next_layer(); }
    const SendingLayer& layer() const { return socket_.next_layer(); }

    asio::awaitable<bool> accept() {
        socket_.set_option(beast::websocket::stream_base::timeout{
            .handshake_timeout = common_->deadlines.header,
            .idle_timeout = beast::websocket::stream_base::none(),  // `keepalive_` knows better
            .keep_alive_pings = false});
        // Of pings and pongs; only while something is read.
        socket_.control_callback([this](beast::websocket::frame_type, beast::string_view) {
            keepalive_.heard(read_awake_clock());
        });
        socket_.read_message_max(limits::line_bytes_max);
        socket_.auto_fragment(false);
        socket_.text(true);
        error_code error;
        auto token = asio::redirect_error(asio::use_awaitable, error);
        co_await socket_.async_accept(*request_, token);
        request_.reset();
        co_return !error;
    }

    bool must_wait() const {
        return in_flight_ >= limits::calls_per_connection_max ||
               asked_bytes_ >= limits::asked_bytes_max || bytes_unsent() >= rpc::owed_bytes_max;
    }
    bool is_all_sent() const { return outbox_.is_empty() && layer().unsent() == 0; }

    asio::awaitable<void> wait_for_room() {
        room_.expires_at(asio::steady_timer::time_point::max());
        error_code ignored;
        auto token = asio::redirect_error(asio::use_awaitable, ignored);
        co_await room_.async_wait(token);
    }

    asio::awaitable<bool> read_some() {
        error_code error;
        auto token = asio::redirect_error(asio::use_awaitable, error);
        // In steps, so that what is read by half is counted; Beast bounds the message itself.
        const auto step = buffer_.size() == 0 ? first_step_bytes_max : read_step_bytes_max;
        co_await socket_.async_read_some(buffer_, step, token);
        if (error || !is_open_) co_return false;
        keepalive_.heard(read_awake_clock());
        half_read_share_.set(buffer_.size());
        if (!socket_.is_message_done()) co_return true;
        if (!socket_.got_text()) {
            close_with(beast::websocket::close_code::unknown_data);
            co_return false;
        }
        const auto bytes = buffer_.data();
        handle({static_cast<const char*>(bytes.data()), bytes.size()});
        buffer_.consume(buffer_.size());
        if (buffer_.capacity() > idle_buffer_bytes_max) buffer_ = beast::flat_buffer{};
        half_read_share_.set(0);
        co_return true;
    }

    void watch_silence() {
        silence_.expires_after(keepalive_.due() - read_awake_clock());
        silence_.async_wait([weak = weak_from_this()](error_code cancelled) {
            const auto self = weak.lock();
            if (!cancelled && self && self->is_open_) self->look_for_silence();
        });
    }
    void look_for_silence() {
        const auto now = read_awake_clock();
        if (must_wait()) keepalive_.heard(now);  // it may be talking: we do not read
        switch (keepalive_.step(now)) {
            case Keepalive::Step::give_up:
                return close();
            case Keepalive::Step::ping:
                ask_whether_it_is_there();
                break;
            case Keepalive::Step::wait:
                break;
        }
        watch_silence();
    }
    void ask_whether_it_is_there() {
        // One that does not read has yet to take the ping before.
        if (is_leaving_ || std::exchange(is_pinging_, true)) return;
        socket_.async_ping({}, [self = shared_from_this()](error_code) {
            self->is_pinging_ = false;  // whether it went wrong is seen by whoever reads
        });
    }

    void handle(std::string_view text) {
        const auto bytes = text.size();
        const bool is_refused = is_too_much(bytes);
        ++in_flight_;
        asked_bytes_ += bytes;
        common_->asked.change(0, bytes);
        auto reply = [weak = weak_from_this(), common = common_,
                      bytes](const std::optional<wire::Answer>& given) {
            common->asked.change(bytes, 0);
            const auto self = weak.lock();
            if (self) self->answer(given ? wire::answer_line(*given) : "", bytes);
        };
        if (!is_refused) return common_->dispatcher.handle(text, caller_, std::move(reply), this);
        rpc::Dispatcher::refuse(
            text,
            Error{ErrorCode::limit,
                  fmt::format("{} bytes of calls are waiting already; try again in a moment",
                              common_->asked.held() - bytes),
                  {},
                  {}},
            std::move(reply));
    }

    bool is_too_much(std::size_t bytes) const {
        return bytes > limits::short_call_bytes_max &&
               common_->asked.held() + bytes > bounds::bodies_all_max;
    }

    void answer(std::string_view line, std::size_t asked_bytes) {
        --in_flight_;
        asked_bytes_ -= asked_bytes;
        if (!line.empty()) send(line);
        hold_reads_if_full();
        room_.cancel();
    }

    void hold_reads_if_full() {
        const bool is_full = bytes_unsent() >= rpc::owed_bytes_max;
        if (!is_open_ || std::exchange(holds_reads_, is_full) == is_full) return;
        common_->dispatcher.hold_reads(caller_.connection, is_full);
    }

    /// Whole messages, as many as go in one step: one system call sends them all.
    std::optional<std::size_t> take(std::string_view bytes) override {
        if (!is_open_) return std::nullopt;
        if (layer().unsent() > 0) return 0;
        auto& frames = shared_frames();
        std::size_t taken = 0;
        while (taken < bytes.size() && frames.size() < write_step_bytes_max) {
            const auto end = bytes.find('\n', taken);
            append_text_frame(frames, bytes.substr(taken, end - taken));
            taken = end + 1;
        }
        if (layer().put(frames)) return std::nullopt;
        last_taken_ = ++common_->taken;
        waiting_share_.set(layer().unsent());
        if (layer().unsent() > 0) be_patient(common_->deadlines.unsent);
        return taken;
    }

    /// All that the client did not take at once has left.
    void on_sent(error_code error) {
        if (!is_open_) return;
        if (error) return close();
        last_taken_ = ++common_->taken;
        patience_.cancel();
        waiting_share_.set(0);
        room_.cancel();
        if (std::exchange(waits_to_flush_, false)) return outbox_.flush();
        on_flushed();
    }

    void be_patient(std::chrono::milliseconds time) {
        patience_.expires_after(time);
        patience_.async_wait([weak = weak_from_this()](error_code cancelled) {
            const auto self = weak.lock();
            if (!cancelled && self && self->layer().unsent() > 0) self->close();
        });
    }

    void flush_soon() override {
        if (layer().unsent() == 0) last_taken_ = ++common_->taken;  // nothing was waiting
        asio::post(socket_.get_executor(), [self = shared_from_this()] { self->outbox_.flush(); });
    }
    /// It is patient with the client since it did not take all.
    void flush_when_it_fits(std::chrono::milliseconds) override { waits_to_flush_ = true; }
    void on_flushed() override {
        room_.cancel();
        if (!is_open_) return;
        hold_reads_if_full();
        leave_if_sent();
        feeds_.go_on();
    }
    void close_when_sent() override { close_with(beast::websocket::close_code::policy_error); }

    void close_with(beast::websocket::close_code code) {
        goodbye_ = code;
        is_closing_ = true;
        room_.cancel();
        leave_if_sent();
    }

    /// The read that waits ends with it.
    void leave_if_sent() {
        if (!is_closing_ || !is_all_sent() || std::exchange(is_leaving_, true)) return;
        socket_.async_close(goodbye_, [self = shared_from_this()](error_code) { self->close(); });
    }

    beast::websocket::stream<SendingLayer, /*deflate=*/false> socket_;
    std::unique_ptr<Request> request_;  // until it is accepted
    const rpc::Caller caller_;
    const std::shared_ptr<Common> common_;
    asio::steady_timer room_;      // cancelled when a call is answered or bytes are sent
    asio::steady_timer patience_;  // runs while the client does not read
    asio::steady_timer silence_;   // until the next step of `keepalive_`
    Keepalive keepalive_;
    beast::flat_buffer buffer_;  // of the message that is being read
    BudgetShare half_read_share_;
    BudgetShare waiting_share_;  // what waits in the layer
    Outbox outbox_;
    rpc::FeedSet feeds_{bounds::websocket_feeds_max};
    beast::websocket::close_code goodbye_ = beast::websocket::close_code::normal;
    std::uint64_t last_taken_ = 0;
    std::size_t in_flight_ = 0;    // calls
    std::size_t asked_bytes_ = 0;  // of these calls
    bool is_open_ = true;
    bool holds_reads_ = false;  // nothing more is looked up for it
    bool is_closing_ = false;   // reads no more; closes once everything is sent
    bool is_leaving_ = false;   // the closing handshake is on
    bool is_pinging_ = false;   // and the ping is not sent yet
    bool waits_to_flush_ = false;
};

}  // namespace

std::shared_ptr<Peer> make_websocket(Socket socket,
                                     beast::http::request<beast::http::string_body> request,
                                     rpc::Caller caller, std::shared_ptr<Common> common) {
    return std::make_shared<WebSocket>(std::move(socket), std::move(request), std::move(caller),
                                       std::move(common));
}

}  // namespace knell::net::http
