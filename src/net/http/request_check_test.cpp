#include "net/http/request_check.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http/bounds.hpp"

namespace knell::net::http {
namespace {

namespace beast = boost::beast;

/// The status that a header is refused with, as text after the request line; 0 when it is not.
int refused(std::string_view fields, std::string_view line = "POST /v1/rpc HTTP/1.1\r\n") {
    beast::http::request_parser<beast::http::empty_body> parser;
    parser.header_limit(bounds::header_bytes_max);
    parser.body_limit(bounds::body_bytes_max);
    const auto text = std::string(line) + std::string(fields) + "\r\n";
    boost::system::error_code error;
    parser.put(boost::asio::buffer(text), error);
    if (error) return why_unreadable(error).value_or(Refusal{.why = {}, .status = -1}).status;
    if (!parser.is_header_done()) return -2;
    const auto refusal = why_refused(parser.get());
    return refusal ? refusal->status : 0;
}

TEST(RequestCheck, LetsOrdinaryRequestsPass) {
    EXPECT_EQ(refused("Host: a\r\n"), 0);
    EXPECT_EQ(refused("Host: a\r\nContent-Length: 5\r\n"), 0);
    EXPECT_EQ(refused("Host: a\r\nTransfer-Encoding: Chunked\r\n"), 0);
    EXPECT_EQ(refused("Host: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n"), 0);
    EXPECT_EQ(refused("Host: a\r\n", "GET / HTTP/1.0\r\n"), 0);
}

TEST(RequestCheck, RefusesWhatAProxyCouldReadOtherwise) {
    for (const auto* fields : {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                               "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
                               "Content-Length: 5\r\nContent-Length: 6\r\n",
                               "Content-Length: 5\r\nContent-Length: 5\r\n",
                               "Content-Length: 5, 5\r\n",
                               "Content-Length: -5\r\n",
                               "Content-Length: 5x\r\n",
                               "Content-Length: +5\r\n",
                               "Content-Length : 5\r\n",
                               "Transfer-Encoding : chunked\r\n",
                               "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                               "Transfer-Encoding: gzip\r\n",
                               "Transfer-Encoding: gzip, chunked\r\n",
                               "Transfer-Encoding: chunked, identity\r\n",
                               "Transfer-Encoding: xchunked\r\n",
                               "Transfer-Encoding: \"chunked\"\r\n",
                               "X: a\nContent-Length: 5\r\n",
                               "X: a\rContent-Length: 5\r\n",
                               "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n",
                               "Expect: tea\r\n",
                               "no colon\r\n",
                               ": empty\r\n"}) {
        EXPECT_GE(refused(fields), 400) << fields;
    }
    EXPECT_GE(refused("Transfer-Encoding: chunked\r\n", "POST / HTTP/1.0\r\n"), 400);
}

TEST(RequestCheck, RefusesOtherVersionsAndLines) {
    EXPECT_EQ(refused("", "GET / HTTP/2.0\r\n"), 505);
    for (const auto* line :
         {"GET /\r\n", "GET  / HTTP/1.1\r\n", "GET / HTTP/1.1 \r\n", "G\x01T / HTTP/1.1\r\n",
          "\x16\x03\x01\r\n", "GET /\x80 HTTX/1.1\r\n"}) {
        EXPECT_GE(refused("", line), 400) << line;
    }
}

TEST(RequestCheck, TellsBoundsApart) {
    EXPECT_EQ(refused("X: " + std::string(bounds::header_bytes_max, 'a') + "\r\n"), 431);
    EXPECT_EQ(refused("Content-Length: 1048577\r\n"), 413);
    EXPECT_EQ(refused("Content-Length: 1048576\r\n"), 0);
    EXPECT_FALSE(why_unreadable(beast::http::error::end_of_stream));
    EXPECT_FALSE(why_unreadable(boost::asio::error::connection_reset));
}

TEST(RequestCheck, SaysWhoSentIt) {
    beast::http::request<beast::http::empty_body> request{beast::http::verb::get, "/", 11};
    request.insert("Host", "localhost");
    request.set("Authorization", "Bearer x");
    auto sender = sender_of(request);
    EXPECT_EQ(sender.hosts, 1U);
    EXPECT_EQ(sender.host, "localhost");
    EXPECT_EQ(sender.authorization, "Bearer x");
    EXPECT_FALSE(sender.origin);

    request.insert("Host", "evil.example");
    request.insert("Origin", "http://localhost");
    EXPECT_EQ(sender_of(request).hosts, 2U);
    EXPECT_EQ(sender_of(request).origin, "http://localhost");
    request.insert("Origin", "http://evil.example");
    EXPECT_EQ(sender_of(request).origin, "");
}

}  // namespace
}  // namespace knell::net::http
