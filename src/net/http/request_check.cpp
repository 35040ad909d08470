#include "net/http/request_check.hpp"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <fmt/format.h>

#include "net/http/bounds.hpp"

namespace knell::net::http {

namespace {

namespace beast = boost::beast;
using beast::http::field;

Refusal bad(int status, std::string why) {
    return {.why = {ErrorCode::invalid_request, std::move(why), {}, {}}, .status = status};
}

Refusal bad_version() {
    return bad(505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
}

std::size_t count(const Header& request, field name) {
    const auto [first, last] = request.equal_range(name);
    return static_cast<std::size_t>(std::distance(first, last));
}

}  // namespace

std::optional<Refusal> why_refused(const Header& request) {
    if (request.version() != 11 && request.version() != 10) {
        return bad_version();
    }
    // The parser has refused both lengths at once.  What is left is an encoding that it does not
    // take for one: it would read the body as the next request.
    const auto encodings = count(request, field::transfer_encoding);
    if (encodings > 0 && (encodings > 1 || request.version() == 10 ||
                          !beast::iequals(request[field::transfer_encoding], "chunked"))) {
        return bad(501, "of transfer encodings only `chunked` is known here, once");
    }
    // The parser takes the same length several times, also in one field.
    if (count(request, field::content_length) > 1 ||
        request[field::content_length].find(',') != beast::string_view::npos) {
        return bad(400, "a request has one header Content-Length");
    }
    if (count(request, field::authorization) > 1) {
        return bad(400, "a request has one header Authorization");
    }
    const auto expected = request[field::expect];
    if (!expected.empty() && !expects_continue(request)) {
        return bad(417, "of expectations only `100-continue` is met here");
    }
    return std::nullopt;
}

std::optional<Refusal> why_unreadable(const boost::system::error_code& failure) {
    using beast::http::error;
    const auto& category = beast::http::make_error_code(error::bad_method).category();
    if (failure.category() != category) return std::nullopt;
    if (failure == error::end_of_stream || failure == error::partial_message) return std::nullopt;
    if (failure == error::header_limit || failure == error::buffer_overflow) {
        return bad(431, fmt::format("a header may be {} bytes long", bounds::header_bytes_max));
    }
    if (failure == error::body_limit) {
        return bad(413, fmt::format("a body may be {} bytes long", bounds::body_bytes_max));
    }
    if (failure == error::bad_version) return bad_version();
    return bad(400, "this is no request: " + failure.message());
}

Sender sender_of(const Header& request) {
    Sender sender{.hosts = count(request, field::host),
                  .host = std::string_view(request[field::host]),
                  .origin = {},
                  .authorization = std::string_view(request[field::authorization])};
    const auto origin = request.find(field::origin);
    if (origin != request.end()) sender.origin = std::string_view(origin->value());
    // Two of them are none of ours.
    if (count(request, field::origin) > 1) sender.origin = "";
    return sender;
}

bool expects_continue(const Header& request) {
    return request.version() == 11 && beast::iequals(request[field::expect], "100-continue");
}

}  // namespace knell::net::http
