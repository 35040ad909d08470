#include "net/http/connection.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "net/http/event_stream.hpp"
#include "net/http/gzip.hpp"
#include "net/http/query_params.hpp"
#include "net/http/request_check.hpp"
#include "net/http/response.hpp"
#include "net/http/websocket.hpp"
#include "platform/clock.hpp"
#include "rpc/method_table.hpp"

namespace knell::net::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

/// What a client still sends is read for so long after the last answer: a socket that is closed
/// with unread bytes takes the answer with it.
constexpr std::chrono::seconds linger_time_max{2};
constexpr std::size_t linger_bytes_max = 4U << 20U;
constexpr std::size_t buffer_bytes_max = 2 * bounds::header_bytes_max;

class Connection final : public Peer, public std::enable_shared_from_this<Connection> {
  public:
    Connection(Socket socket, std::string address, std::string ip, std::shared_ptr<Common> common)
        : socket_(std::move(socket)),
          address_(std::move(address)),
          ip_(std::move(ip)),
          common_(std::move(common)),
          id_(common_->dispatcher.new_connection()),
          deadline_(socket_.get_executor()),
          answered_(socket_.get_executor()),
          place_(common_->strangers, *this),
          asked_share_(common_->asked),
          unsent_share_(common_->unsent) {}

    asio::awaitable<void> serve() override {
        const auto self = shared_from_this();
        bool is_first = true;
        while (socket_.is_open()) {
            if (!co_await wait_for_request(std::exchange(is_first, false))) break;
            if (!co_await serve_one()) break;
        }
        close();
    }

    void close() override {
        error_code ignored;
        if (socket_.is_open()) common_->dispatcher.hung_up(id_);
        socket_.close(ignored);
        place_.leave();
        deadline_.cancel();
        answered_.cancel();
    }

    bool is_busy() const override { return is_busy_; }
    std::size_t bytes_unsent() const override { return unsent_share_.held(); }
    std::uint64_t last_taken() const override { return last_taken_; }
    /// Of a response nothing can be left out.
    void give_up_unsent() override {
        unsent_share_.set(0);
        close();
    }

  private:
    using Parser = beast::http::request_parser<beast::http::string_body>;
    using Request = Parser::value_type;

    /// Closes the client unless it is done by then.
    void within(std::chrono::milliseconds time) {
        const auto number = ++deadline_number_;
        deadline_.expires_after(time);
        deadline_.async_wait([weak = weak_from_this(), number](error_code cancelled) {
            const auto self = weak.lock();
            if (!cancelled && self && self->deadline_number_ == number) self->close();
        });
    }
    void without_deadline() {
        ++deadline_number_;
        deadline_.cancel();
    }

    asio::awaitable<bool> wait_for_request(bool is_first) {
        if (buffer_.size() == 0) {
            within(is_first ? common_->deadlines.header : common_->deadlines.idle);
            error_code error;
            auto token = asio::redirect_error(asio::use_awaitable, error);
            co_await socket_.async_wait(Socket::wait_read, token);
            if (error) co_return false;
            if (is_first) co_return true;  // the time since it connected counts
        }
        within(common_->deadlines.header);
        co_return true;
    }

    /// Whether another request may follow.
    asio::awaitable<bool> serve_one() {
        parser_.emplace();
        parser_->header_limit(bounds::header_bytes_max);
        parser_->body_limit(bounds::body_bytes_max);
        error_code error;
        auto token = asio::redirect_error(asio::use_awaitable, error);
        co_await beast::http::async_read_header(socket_, buffer_, *parser_, token);
        if (error) co_return co_await refuse_unreadable(error);
        is_busy_ = true;
        auto response = co_await answer_request();
        bool goes_on = false;
        if (response) goes_on = co_await send(*response);
        is_busy_ = false;
        asked_share_.set(0);
        parser_.reset();
        if (buffer_.size() == 0) buffer_.shrink_to_fit();  // it may be idle for long
        co_return goes_on;
    }

    asio::awaitable<bool> refuse_unreadable(error_code error) {
        const auto refusal = why_unreadable(error);
        if (!refusal) co_return false;
        auto response = response_to(refusal->why, refusal->status);
        response.must_close = true;
        co_return co_await send(response);
    }

    /// Nothing when somebody else has the socket now, or nobody any more.
    asio::awaitable<std::optional<Response>> answer_request() {
        const auto& request = parser_->get();
        if (auto refusal = why_refused(request)) co_return refused(*refusal);
        auto target = parse_target(std::string_view(request.target()));
        if (!target) {
            co_return refused({.why = target.error(),
                               .status = target.error().code == ErrorCode::limit ? 414 : 400});
        }
        const auto found = find_route(std::string_view(request.method_string()), *target);
        const auto* matched = std::get_if<Matched>(&found);
        if (matched != nullptr && !matched->route->needs_token()) {
            const bool is_well = matched->route->serves == Serves::health || common_->is_ready();
            co_return unless_more_comes(health_response(is_well));
        }
        const auto admitted = admit(sender_of(request), *common_->rules);
        if (const auto* refusal = std::get_if<Refusal>(&admitted)) {
            if (refusal->is_guess) co_await slow_down();
            co_return refused(*refusal);
        }
        place_.leave();
        if (matched == nullptr) co_return unless_more_comes(no_route_response(found));
        if (!parser_->is_done()) {
            auto read = co_await read_body();
            if (!read) co_return refused(read.error());
        }
        co_return co_await answer_matched(*matched, *target, std::get<rpc::Access>(admitted));
    }

    /// A body that nobody reads would be taken for the next request.
    Response unless_more_comes(Response response) const {
        response.must_close = !parser_->is_done();
        return response;
    }

    /// A guess waits for its answer; its connection serves nothing else meanwhile.
    asio::awaitable<void> slow_down() {
        const auto delay = common_->throttle.failed(ip_, read_awake_clock());
        if (delay.count() == 0) co_return;
        without_deadline();
        answered_.expires_after(delay);
        error_code ignored;
        auto token = asio::redirect_error(asio::use_awaitable, ignored);
        co_await answered_.async_wait(token);
    }

    asio::awaitable<std::expected<void, Refusal>> read_body() {
        const auto length = parser_->content_length();
        const auto bytes = length ? static_cast<std::size_t>(*length) : bounds::body_bytes_max;
        if (common_->asked.held() + bytes > bounds::bodies_all_max) {
            co_return std::unexpected(
                Refusal{.why = {ErrorCode::limit,
                                "the bodies of others are waiting already; try again in "
                                "a moment",
                                {},
                                {}},
                        .status = 429});
        }
        asked_share_.set(bytes);
        within(common_->deadlines.body);
        error_code error;
        auto token = asio::redirect_error(asio::use_awaitable, error);
        if (expects_continue(parser_->get())) {
            beast::http::response<beast::http::empty_body> go_on{beast::http::status::continue_,
                                                                 parser_->get().version()};
            co_await beast::http::async_write(socket_, go_on, token);
        }
        if (!error) co_await beast::http::async_read(socket_, buffer_, *parser_, token);
        if (!error) co_return std::expected<void, Refusal>{};
        auto refusal = why_unreadable(error);
        if (refusal) co_return std::unexpected(std::move(*refusal));
        close();
        co_return std::unexpected(Refusal{});
    }

    asio::awaitable<std::optional<Response>> answer_matched(const Matched& matched,
                                                            const Target& target,
                                                            rpc::Access access) {
        const rpc::Caller caller{rpc::HttpClient{.address = address_, .access = access}, id_};
        switch (matched.route->serves) {
            case Serves::rpc:
                common_->dispatcher.handle(parser_->get().body(), caller, take_answer());
                co_await wait_for_answer();
                co_return response_to(std::exchange(answer_, {}));
            case Serves::websocket:
                co_return upgrade(caller);
            case Serves::call:
            case Serves::events:
            case Serves::health:
            case Serves::readiness:
                break;
        }
        auto given = matched.params;
        if (const auto tags = parser_->get()[beast::http::field::if_none_match];
            matched.route->has_etag && !tags.empty()) {
            given.emplace_back("if_none_match", std::string(tags));
        }
        auto params = params_of_query(given, rows_of(matched.route->method));
        if (!params) co_return response_to(params.error());
        wire::Request call{
            .id = 1, .method = std::string(matched.route->method), .params = std::move(*params)};
        if (matched.route->serves == Serves::events) co_return follow(std::move(call), caller);
        common_->dispatcher.run(std::move(call), caller, take_answer());
        co_await wait_for_answer();
        if (!answer_) co_return std::nullopt;
        co_return response_to(std::move(std::exchange(answer_, {})->result), matched, target);
    }

    static std::span<const wire::Field> rows_of(std::string_view method) {
        const auto found = std::ranges::find(rpc::methods(), method, &rpc::Method::name);
        return found->params;
    }

    rpc::Dispatcher::Reply take_answer() {
        is_answered_ = false;
        without_deadline();
        return [weak = weak_from_this()](std::optional<wire::Answer> answer) {
            const auto self = weak.lock();
            if (!self) return;
            self->answer_ = std::move(answer);
            self->is_answered_ = true;
            self->answered_.cancel();
        };
    }

    asio::awaitable<void> wait_for_answer() {
        while (!is_answered_ && socket_.is_open()) {
            answered_.expires_at(asio::steady_timer::time_point::max());
            error_code ignored;
            auto token = asio::redirect_error(asio::use_awaitable, ignored);
            co_await answered_.async_wait(token);
        }
    }

    std::optional<Response> upgrade(const rpc::Caller& caller) {
        const auto& request = parser_->get();
        if (!beast::websocket::is_upgrade(request) || buffer_.size() > 0) {
            return upgrade_required_response();
        }
        without_deadline();
        common_->adopt(make_websocket(std::move(socket_), parser_->release(), caller, common_));
        return std::nullopt;
    }

    std::optional<Response> follow(wire::Request call, const rpc::Caller& caller) {
        const auto& request = parser_->get();
        if (const auto last = request.find("Last-Event-ID"); last != request.end()) {
            const auto id = std::string_view(last->value());
            auto after = params_of_query({{"after", std::string(id)}}, rows_of(call.method));
            if (!after)
                return response_to(bad_field("Last-Event-ID", "is no event of ours").error());
            call.params["after"] = after->at("after");
        }
        if (request.method() == beast::http::verb::head) {
            return Response{.content_type = std::string(event_stream_type), .must_close = true};
        }
        without_deadline();
        common_->adopt(make_event_stream(std::move(socket_), std::move(call), caller, common_));
        return std::nullopt;
    }

    /// Whether another request may follow.
    asio::awaitable<bool> send(Response& response) {
        const auto& request = parser_->get();
        if (accepts_gzip(std::string_view(request[beast::http::field::accept_encoding])) &&
            response.status == 200) {
            compress(response);
        }
        // If that is too much in all, somebody who does not read makes room.
        last_taken_ = ++common_->taken;
        unsent_share_.set(response.body.size());
        within(common_->deadlines.answer);
        const bool goes_on = request.keep_alive() && !response.must_close;
        const bool is_head = request.method() == beast::http::verb::head;
        bool sent = false;
        if (is_head) {
            sent = co_await write<beast::http::empty_body>(response, goes_on);
        } else {
            sent = co_await write<beast::http::string_body>(response, goes_on);
        }
        unsent_share_.set(0);
        if (sent && !goes_on) co_await linger();
        co_return sent&& goes_on;
    }

    template <typename Body>
    asio::awaitable<bool> write(Response& response, bool goes_on) {
        beast::http::response<Body> message{static_cast<beast::http::status>(response.status),
                                            parser_->get().version() == 10U ? 10U : 11U};
        if (!response.content_type.empty()) {
            message.set(beast::http::field::content_type, response.content_type);
        }
        message.set(beast::http::field::cache_control, "no-store");
        message.set("X-Content-Type-Options", "nosniff");
        message.set(beast::http::field::vary, "Accept-Encoding");
        for (const auto& [name, value] : response.headers) message.set(name, value);
        message.keep_alive(goes_on);
        const auto bytes = response.body.size();
        if constexpr (std::is_same_v<Body, beast::http::string_body>) {
            message.body() = std::move(response.body);
            message.prepare_payload();
            if (response.status == 204) message.erase(beast::http::field::content_length);
        } else {
            message.content_length(bytes);
        }
        beast::http::response_serializer<Body> serializer{message};
        error_code error;
        while (!error && !serializer.is_done()) {
            auto token = asio::redirect_error(asio::use_awaitable, error);
            co_await beast::http::async_write_some(socket_, serializer, token);
            last_taken_ = ++common_->taken;
        }
        co_return !error;
    }

    asio::awaitable<void> linger() {
        error_code error;
        socket_.shutdown(Socket::shutdown_send, error);
        within(linger_time_max);
        std::array<char, 4096> dropped{};
        for (std::size_t bytes = 0; !error && bytes < linger_bytes_max;) {
            auto token = asio::redirect_error(asio::use_awaitable, error);
            bytes += co_await socket_.async_read_some(asio::buffer(dropped), token);
        }
    }

    Socket socket_;
    const std::string address_;
    const std::string ip_;
    const std::shared_ptr<Common> common_;
    const rpc::ConnectionId id_;
    asio::steady_timer deadline_;
    std::uint64_t deadline_number_ = 0;
    asio::steady_timer answered_;  // cancelled when the answer is there
    Strangers::Place place_;       // until it has shown a token
    beast::flat_buffer buffer_{buffer_bytes_max};
    std::optional<Parser> parser_;  // while a request is read or answered
    std::optional<wire::Answer> answer_;
    bool is_answered_ = false;
    bool is_busy_ = false;
    std::uint64_t last_taken_ = 0;
    BudgetShare asked_share_;
    BudgetShare unsent_share_;
};

}  // namespace

std::shared_ptr<Peer> make_connection(Socket socket, std::string address, std::string ip,
                                      std::shared_ptr<Common> common) {
    return std::make_shared<Connection>(std::move(socket), std::move(address), std::move(ip),
                                        std::move(common));
}

}  // namespace knell::net::http
