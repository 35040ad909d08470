#include "deliver/webhook/sender.hpp"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "deliver/webhook/signature.hpp"
#include "testing/loopback_server.hpp"
#include "testing/polled_sender.hpp"
#include "testing/sample_event.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::LoopbackServer;
using ::testing::Not;
using ::testing::StartsWith;
using Kind = Outcome::Kind;
using Then = LoopbackServer::Then;

// Long enough for any machine; nothing waits that long when all is well.
constexpr auto patience = 30s;

const auto& rendered = testing::sample_event;
const auto now = testing::sample_now;

std::string answer(std::string_view status, std::string_view headers = {}) {
    return "HTTP/1.1 " + std::string(status) + "\r\nContent-Length: 0\r\n" + std::string(headers) +
           "\r\n";
}

class WebhookSending : public ::testing::Test {
  protected:
    void SetUp() override {
        setenv("KNELL_TEST_SECRET", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", 1);
    }
    void TearDown() override { unsetenv("KNELL_TEST_SECRET"); }

    static WebhookSpec to(std::string url) {
        return {.name = "ops",
                .url = std::move(url),
                .secrets = {{.variable = "KNELL_TEST_SECRET"}},
                .timeout = 30s};
    }

    Finished finish() {
        for (;;) {
            const auto finished = sender.take_finished();
            EXPECT_LE(finished.size(), 1U);
            if (!finished.empty()) return finished.front();
            sender.wait(patience);
            ++waits;
        }
    }
    Outcome attempt(const WebhookSpec& spec) {
        sender.start(7, spec, rendered, now);
        const auto finished = finish();
        EXPECT_EQ(finished.attempt, 7U);
        EXPECT_EQ(sender.under_way(), 0U);
        return finished.outcome;
    }
    Outcome answered(std::string bytes) {
        const LoopbackServer server(std::move(bytes));
        return attempt(to(server.url()));
    }

    testing::PolledSender sender{"node7"};
    int waits = 0;
};

TEST_F(WebhookSending, PostsASignedCloudEvent) {
    const LoopbackServer server(answer("204 No Content"));

    EXPECT_EQ(attempt(to(server.url("/hooks/a?b=c"))).kind, Kind::delivered);

    ASSERT_EQ(server.requests().size(), 1U);
    const auto request = server.requests().front();
    EXPECT_THAT(request, StartsWith("POST /hooks/a?b=c HTTP/1.1\r\n"));
    EXPECT_THAT(request, HasSubstr("\r\nUser-Agent: knell/"));
    EXPECT_THAT(request,
                HasSubstr("\r\nContent-Type: application/cloudevents+json; charset=utf-8\r\n"));
    EXPECT_THAT(request, HasSubstr("\r\nwebhook-id: s1_1_end\r\n"));
    EXPECT_THAT(request, HasSubstr("\r\nwebhook-timestamp: 1794714745\r\n"));
    EXPECT_THAT(request, Not(HasSubstr("Expect:")));
    const auto body = request.substr(request.find("\r\n\r\n") + 4);
    EXPECT_THAT(body, HasSubstr(R"("source":"/knell/node7")"));
    const auto signature =
        signature_header({"s1_1_end", 1794714745, body}, {{.variable = "KNELL_TEST_SECRET"}});
    EXPECT_THAT(request, HasSubstr("\r\nwebhook-signature: " + *signature + "\r\n"));
}

TEST_F(WebhookSending, AnAnswerMeansWhatItsStatusSays) {
    EXPECT_EQ(answered(answer("200 OK")).kind, Kind::delivered);
    EXPECT_EQ(answered(answer("410 Gone")).kind, Kind::gone);

    const auto failed = answered(answer("500 Oh no"));
    EXPECT_EQ(failed.kind, Kind::failed);
    EXPECT_EQ(failed.what, "HTTP 500");

    const auto busy = answered(answer("429 Slow down", "Retry-After: 77\r\n"));
    EXPECT_EQ(busy.kind, Kind::failed);
    EXPECT_EQ(busy.retry_after, 77s);
}

TEST_F(WebhookSending, ARedirectIsNotFollowed) {
    const LoopbackServer elsewhere(answer("200 OK"));
    const auto outcome = answered(answer("302 Found", "Location: " + elsewhere.url("/x") + "\r\n"));

    EXPECT_EQ(outcome.kind, Kind::failed);
    EXPECT_EQ(outcome.what, "redirects are not followed: HTTP 302 to " + elsewhere.url("/x"));
    EXPECT_EQ(elsewhere.connections(), 0U);
}

TEST_F(WebhookSending, AReceiverThatNeverAnswersCostsItsTimeoutAndNoProcessor) {
    const LoopbackServer server([](const auto&) { return LoopbackServer::Reply{"", Then::hang}; });
    auto spec = to(server.url());
    spec.timeout = 1s;

    const auto outcome = attempt(spec);

    EXPECT_EQ(outcome.kind, Kind::failed);
    EXPECT_EQ(outcome.what, "timed out after 1 s");
    EXPECT_LT(waits, 50) << "it spins";
}

TEST_F(WebhookSending, AReceiverThatStopsInTheMiddleHasAnsweredAllTheSame) {
    const LoopbackServer server([](const auto&) {
        return LoopbackServer::Reply{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", Then::hang};
    });
    auto spec = to(server.url());
    spec.timeout = 1s;

    EXPECT_EQ(attempt(spec).kind, Kind::delivered);
}

TEST_F(WebhookSending, AConnectionThatIsClosedEarlyIsAFailure) {
    EXPECT_EQ(answered("").what, "the connection was closed without an answer");
    EXPECT_EQ(answered("HTTP/1.1 2").kind, Kind::failed);
    EXPECT_EQ(answered("SSH-2.0-OpenSSH_9.2\r\n").what.substr(0, 18), "not an HTTP answer");
    EXPECT_EQ(answered("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc").kind, Kind::delivered);
}

TEST_F(WebhookSending, NobodyListensIsToldInWords) {
    std::string url;
    {
        const LoopbackServer server("");
        url = server.url();
    }
    EXPECT_THAT(attempt(to(url)).what, StartsWith("cannot connect: "));
}

TEST_F(WebhookSending, NoAnswerIsTooLarge) {
    const std::string body(20U << 20U, 'x');
    const auto head = "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    EXPECT_EQ(answered("HTTP/1.1 200 OK" + head + body).kind, Kind::delivered);
    EXPECT_EQ(answered("HTTP/1.1 500 x" + head + body).what, "HTTP 500");

    std::string headers;
    while (headers.size() < 4 * limits::webhook_head_bytes_max) headers += "X-Padding: abcdef\r\n";
    EXPECT_EQ(answered(answer("200 OK", headers)).kind, Kind::delivered);
    EXPECT_EQ(answered(answer("503 x", headers)).what, "HTTP 503");
    const auto line = "X-Line: " + std::string(1U << 20U, 'x') + "\r\n";
    EXPECT_EQ(answered(answer("503 x", line)).what, "HTTP 503");
}

TEST_F(WebhookSending, AnEndlessHeadOfInterimAnswersIsCut) {
    std::string bytes;
    while (bytes.size() < 4 * limits::webhook_head_bytes_max) bytes += "HTTP/1.1 103 x\r\n\r\n";
    EXPECT_EQ(answered(bytes).what, "the head of the answer is larger than 32 KiB");
}

TEST_F(WebhookSending, AnInternalAddressIsNotConnectedTo) {
    EXPECT_EQ(attempt(to("https://10.0.0.1/")).what,
              "address refused: 10.0.0.1 is internal (a private network); "
              "set allow_internal: true to allow it");
    EXPECT_THAT(attempt(to("https://[::ffff:169.254.169.254]/")).what,
                HasSubstr("169.254.169.254 is internal (link-local)"));
}

TEST_F(WebhookSending, ANameThatTurnsOutToBeLoopbackIsNotConnectedTo) {
    // Resolves like any other name; that it means loopback is known only when connecting.
    const LoopbackServer server(answer("200 OK"));
    const auto url = "https://rebound.localhost:" + std::to_string(server.port());

    EXPECT_THAT(attempt(to(url)).what, HasSubstr("is internal (loopback)"));
    EXPECT_EQ(server.connections(), 0U);
}

TEST_F(WebhookSending, AProxyOfTheEnvironmentIsNotUsed) {
    const LoopbackServer proxy(answer("200 OK"));
    const LoopbackServer server(answer("204 x"));
    setenv("http_proxy", proxy.url().c_str(), 1);
    setenv("ALL_PROXY", proxy.url().c_str(), 1);

    EXPECT_EQ(attempt(to(server.url())).what, "HTTP 204");
    EXPECT_EQ(proxy.connections(), 0U);

    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
}

TEST_F(WebhookSending, WhatCannotBeginHasAnOutcomeToo) {
    auto unsigned_one = to("http://127.0.0.1/");
    unsigned_one.secrets = {{.variable = "KNELL_TEST_UNSET"}};
    EXPECT_EQ(attempt(unsigned_one).what, "$KNELL_TEST_UNSET is not set");
    EXPECT_THAT(attempt(to("http://example.com/")).what,
                StartsWith("url: http:// is for loopback"));

    sender.start(1, unsigned_one, rendered, now);
    sender.wait(patience);  // has something to show, so it does not wait
    EXPECT_EQ(sender.take_finished().size(), 1U);
}

TEST_F(WebhookSending, AConnectionIsUsedAgain) {
    const LoopbackServer server(
        [](const auto&) { return LoopbackServer::Reply{answer("200 OK"), Then::keep}; });

    for (int i = 0; i < 5; ++i) EXPECT_EQ(attempt(to(server.url())).kind, Kind::delivered);

    EXPECT_EQ(server.requests().size(), 5U);
    EXPECT_EQ(server.connections(), 1U);
}

TEST_F(WebhookSending, FiftyAtOnceDoNotWaitForEachOther) {
    constexpr std::size_t count = 50;
    LoopbackServer server([](const auto&) { return LoopbackServer::Reply{"", Then::hang}; });
    for (AttemptId id = 1; id <= count; ++id) sender.start(id, to(server.url()), rendered, now);

    while (server.requests().size() < count) sender.wait(10ms);
    EXPECT_EQ(sender.under_way(), count);
    server.release(answer("200 OK"));

    std::size_t delivered = 0;
    while (delivered < count) {
        for (const auto& one : sender.take_finished()) {
            EXPECT_EQ(one.outcome.kind, Kind::delivered);
            ++delivered;
        }
        sender.wait(10ms);
    }
    EXPECT_EQ(sender.under_way(), 0U);
}

TEST_F(WebhookSending, ACancelledAttemptIsForgotten) {
    LoopbackServer server([](const auto&) { return LoopbackServer::Reply{"", Then::hang}; });
    sender.start(1, to(server.url()), rendered, now);
    while (server.requests().empty()) sender.wait(10ms);
    sender.start(2, to("not a url"), rendered, now);

    sender.cancel(1);
    sender.cancel(2);
    sender.cancel(3);

    EXPECT_EQ(sender.under_way(), 0U);
    EXPECT_TRUE(sender.take_finished().empty());
}

TEST_F(WebhookSending, MayGoWhileAnAttemptIsUnderWay) {
    LoopbackServer server([](const auto&) { return LoopbackServer::Reply{"", Then::hang}; });
    {
        testing::PolledSender brief{"node7"};
        brief.start(1, to(server.url()), rendered, now);
        while (server.requests().empty()) brief.wait(10ms);
        EXPECT_EQ(brief.under_way(), 1U);
    }
    EXPECT_EQ(answered(answer("200 OK")).kind, Kind::delivered) << "others are not disturbed";
}

}  // namespace
}  // namespace knell
