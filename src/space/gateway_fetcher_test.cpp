#include "space/gateway_fetcher.hpp"

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/limits.hpp"
#include "testing/loopback_server.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::LoopbackServer;
using ::testing::Not;
using Then = LoopbackServer::Then;

// Long enough for any machine; nothing waits that long when all is well.
constexpr auto patience = 30s;

std::string http(std::string_view status, std::string_view body, std::string_view headers = {}) {
    return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n{}\r\n{}", status, body.size(),
                       headers, body);
}

class GatewayFetching : public ::testing::Test {
  protected:
    GatewayFetching() { write_token("t0k3n\n", 0600); }

    void write_token(std::string_view text, mode_t mode) const {
        std::ofstream(token_file) << text;
        EXPECT_EQ(::chmod(token_file.c_str(), mode), 0);
    }
    GatewayBoard::Request to(std::string url, std::string etag = {}) const {
        return {.ticket = 7,
                .spec = {.name = "mac", .url = std::move(url), .token_file = token_file},
                .etag = std::move(etag)};
    }
    Result<GatewayFetcher::Fetched> fetch(const GatewayBoard::Request& request) {
        fetcher.start(request);
        for (;;) {
            auto finished = fetcher.take_finished();
            if (!finished.empty()) {
                EXPECT_EQ(finished.front().ticket, 7U);
                return std::move(finished.front().fetched);
            }
            fetcher.wait(patience);
        }
    }
    std::string failure(const GatewayBoard::Request& request) {
        const auto fetched = fetch(request);
        EXPECT_FALSE(fetched);
        return fetched ? std::string{} : fetched.error().message;
    }

    const testing::TempFolder temp;
    const std::string token_file = temp.path() + "/mac.token";
    GatewayFetcher fetcher;
};

TEST_F(GatewayFetching, AsksWithTheTokenAndTheTag) {
    LoopbackServer server(http("200 OK", "{}"));

    const auto fetched = fetch(to(server.url("/proxied/"), "\"2a\""));

    ASSERT_TRUE(fetched) << fetched.error().message;
    EXPECT_EQ(fetched->status, 200);
    EXPECT_EQ(fetched->body, "{}");
    const auto request = server.requests().at(0);
    EXPECT_THAT(request, HasSubstr("GET /proxied/v1/space/activity HTTP/1.1\r\n"));
    EXPECT_THAT(request, HasSubstr("Authorization: Bearer t0k3n\r\n"));
    EXPECT_THAT(request, HasSubstr("If-None-Match: \"2a\"\r\n"));
}

TEST_F(GatewayFetching, TakesNothingNewForAnAnswer) {
    LoopbackServer server("HTTP/1.1 304 Not Modified\r\n\r\n");
    const auto fetched = fetch(to(server.url(""), "\"2a\""));
    ASSERT_TRUE(fetched) << fetched.error().message;
    EXPECT_EQ(fetched->status, 304);
}

TEST_F(GatewayFetching, TellsWhyThereIsNoPicture) {
    EXPECT_EQ(failure(to(LoopbackServer(http("401 Unauthorized", "")).url(""))),
              "it refuses the token (HTTP 401)");
    EXPECT_EQ(failure(to(LoopbackServer(http("503 Busy", "")).url(""))), "HTTP 503");
    std::string gone;
    {
        const LoopbackServer server("");
        gone = server.url("");
    }
    EXPECT_THAT(failure(to(gone)), HasSubstr("127.0.0.1"));
}

TEST_F(GatewayFetching, FollowsNobodyElsewhere) {
    LoopbackServer elsewhere(http("200 OK", "{}"));
    LoopbackServer server(
        http("302 Found", "", fmt::format("Location: {}\r\n", elsewhere.url("/"))));
    EXPECT_EQ(failure(to(server.url(""))), "HTTP 302");
    EXPECT_EQ(elsewhere.connections(), 0U) << "the token would have gone along";
}

TEST_F(GatewayFetching, ReadsNoMoreThanAnAnswerMayHold) {
    LoopbackServer server(http("200 OK", std::string(limits::answer_bytes_max + 1, 'x')));
    EXPECT_THAT(failure(to(server.url(""))), HasSubstr("longer than"));
}

TEST_F(GatewayFetching, DoesNotConnectIntoPrivateNetworksUnasked) {
    auto request = to("https://10.255.255.1:1");
    EXPECT_THAT(failure(request), HasSubstr("10.255.255.1"));
    EXPECT_THAT(failure(to("http://example.org")), HasSubstr("loopback only"));
}

TEST_F(GatewayFetching, SendsNoTokenThatOthersCouldRead) {
    LoopbackServer server(http("200 OK", "{}"));
    write_token("t0k3n", 0644);
    EXPECT_THAT(failure(to(server.url(""))), HasSubstr("chmod 600"));
    write_token("two\r\nX-Header: lines", 0600);
    EXPECT_THAT(failure(to(server.url(""))), HasSubstr("holds no token"));
    write_token("", 0600);
    EXPECT_THAT(failure(to(server.url(""))), Not(HasSubstr("t0k3n")));
    EXPECT_EQ(server.connections(), 0U);
}

TEST_F(GatewayFetching, ASilentOneHoldsUpNobody) {
    LoopbackServer silent([](const std::string&) { return LoopbackServer::Reply{"", Then::hang}; });
    LoopbackServer server(http("200 OK", "{}"));
    auto first = to(silent.url(""));
    first.ticket = 1;
    fetcher.start(first);

    EXPECT_TRUE(fetch(to(server.url(""))));

    fetcher.wake();
    EXPECT_FALSE(fetcher.is_idle());
}

}  // namespace
}  // namespace knell
