#include "net/connection.hpp"

#include <array>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "core/limits.hpp"
#include "wire/envelope.hpp"

namespace knell::net {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

/// Read buffer of the one net thread: idle connections cost no buffer of their own.
thread_local std::array<char, 64 * 1024> shared_buffer;

bool would_block(const error_code& error) {
    return error == asio::error::would_block || error == asio::error::try_again;
}

}  // namespace

Connection::Connection(Socket socket, rpc::Caller caller, rpc::Dispatcher& dispatcher,
                       std::shared_ptr<Budgets> budgets, std::chrono::milliseconds unsent_for_max)
    : socket_(std::move(socket)),
      caller_(std::move(caller)),
      dispatcher_(dispatcher),
      room_(socket_.get_executor()),
      patience_(socket_.get_executor()),
      budgets_(std::move(budgets)),
      lines_(limits::line_bytes_max, budgets_->half_read),
      outbox_(*this, wire::json_lines, budgets_->unsent, unsent_for_max) {
    socket_.non_blocking(true);
}

void Connection::close() {
    error_code ignored;
    socket_.close(ignored);
    room_.cancel();
    patience_.cancel();
    // A late answer keeps this for a while; it must not keep these.
    outbox_.close();
    lines_.take_rest();
    dispatcher_.hung_up(caller_.connection);
}

bool Connection::must_wait() const {
    return in_flight_ >= limits::calls_per_connection_max ||
           asked_bytes_ >= limits::asked_bytes_max || outbox_.size() >= rpc::owed_bytes_max;
}

asio::awaitable<void> Connection::serve() {
    const auto self = shared_from_this();
    while (socket_.is_open() && !closing_) {
        if (must_wait()) {
            co_await wait_for_room();
            continue;
        }
        if (!co_await read_some()) break;
    }
    // A client may send its calls and shut down its side: the answers still belong to it.
    while (socket_.is_open() && in_flight_ > 0) co_await wait_for_room();
    feeds_.clear();  // only now: until then one may owe an answer itself
    while (socket_.is_open() && !outbox_.is_empty()) co_await wait_for_room();
    close();
}

asio::awaitable<void> Connection::wait_for_room() {
    room_.expires_at(asio::steady_timer::time_point::max());
    error_code ignored;
    auto token = asio::redirect_error(asio::use_awaitable, ignored);
    co_await room_.async_wait(token);
}

asio::awaitable<bool> Connection::read_some() {
    if (drained_) {
        // To ask the socket first would nearly always be a system call for nothing.
        error_code waited;
        auto token = asio::redirect_error(asio::use_awaitable, waited);
        co_await socket_.async_wait(Socket::wait_read, token);
        if (waited) co_return false;
    }
    error_code error;
    const auto got = socket_.read_some(asio::buffer(shared_buffer), error);
    drained_ = got < shared_buffer.size();
    if (would_block(error)) co_return true;
    // Whole without its newline, a last line is a call like any other.
    if (error == asio::error::eof && lines_.size() > 0 && !outbox_.is_refused())
        handle(lines_.take_rest());
    if (error) co_return false;
    co_return take_lines({shared_buffer.data(), got});
}

bool Connection::take_lines(std::string_view bytes) {
    if (lines_.cut(bytes, [this](std::string_view line) { handle(line); })) return true;
    ++in_flight_;
    answer(wire::error_line(Error{ErrorCode::limit,
                                  fmt::format("a line may be {} bytes long; closing, because what "
                                              "follows cannot be told apart",
                                              limits::line_bytes_max),
                                  {},
                                  {}}),
           /*asked_bytes=*/0);
    closing_ = true;
    return false;
}

void Connection::handle(std::string_view line) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    const auto bytes = line.size();
    const bool refused = is_too_much(bytes);
    ++in_flight_;
    asked_bytes_ += bytes;
    budgets_->asked.change(0, bytes);
    // No share: what was asked stays in the queues when its connection is gone.
    auto reply = [self = weak_from_this(), budgets = budgets_,
                  bytes](const std::optional<wire::Answer>& given) {
        budgets->asked.change(bytes, 0);
        const auto connection = self.lock();
        if (connection) connection->answer(given ? wire::answer_line(*given) : "", bytes);
    };
    if (!refused) return dispatcher_.handle(line, caller_, std::move(reply), this);
    rpc::Dispatcher::refuse(
        line,
        Error{ErrorCode::limit,
              fmt::format("{} bytes of calls are waiting already; try again in a moment",
                          budgets_->asked.held() - bytes),
              {},
              {}},
        std::move(reply));
}

bool Connection::is_too_much(std::size_t bytes) const {
    if (bytes <= limits::short_call_bytes_max) return false;
    const auto reserve = in_flight_ == 0 ? limits::asked_bytes_reserve : 0;
    return budgets_->asked.held() + bytes > limits::asked_bytes_all_max + reserve;
}

void Connection::answer(std::string_view line, std::size_t asked_bytes) {
    --in_flight_;
    asked_bytes_ -= asked_bytes;
    send(line);
    hold_reads_if_full();
    if (outbox_.is_refused()) room_.cancel();  // nothing is sent that would tell of it
}

void Connection::hold_reads_if_full() {
    const bool is_full = outbox_.size() >= rpc::owed_bytes_max;
    if (!socket_.is_open() || std::exchange(holds_reads_, is_full) == is_full) return;
    dispatcher_.hold_reads(caller_.connection, is_full);
}

void Connection::give_up_half_read() {
    lines_.take_rest();
    outbox_.refuse(
        fmt::format("all clients together have sent more than {} bytes of lines without their "
                    "end, and this one the most; closing",
                    limits::half_read_bytes_all_max));
}

std::optional<std::size_t> Connection::take(std::string_view bytes) {
    error_code error;
    const auto sent = socket_.write_some(asio::buffer(bytes), error);
    if (would_block(error)) return 0;
    if (error) return std::nullopt;
    last_taken_ = ++budgets_->taken;
    return sent;
}

void Connection::flush_soon() {
    last_taken_ = ++budgets_->taken;  // nothing was waiting
    asio::post(socket_.get_executor(), [self = shared_from_this()] { self->outbox_.flush(); });
}

void Connection::flush_when_it_fits(std::chrono::milliseconds patience) {
    patience_.expires_after(patience);
    patience_.async_wait([weak = weak_from_this()](error_code cancelled) {
        const auto connection = weak.lock();
        if (!cancelled && connection) connection->close();
    });
    socket_.async_wait(Socket::wait_write, [self = shared_from_this()](error_code error) {
        self->patience_.cancel();
        if (!error) self->outbox_.flush();
    });
}

void Connection::on_flushed() {
    room_.cancel();
    hold_reads_if_full();
    if (socket_.is_open()) feeds_.go_on();
}

void Connection::close_when_sent() {
    closing_ = true;
    error_code ignored;
    // Ends the read that waits, so that `serve` sees it.
    socket_.shutdown(Socket::shutdown_receive, ignored);
}

}  // namespace knell::net
