#include "deliver/webhook/response.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using Kind = Outcome::Kind;

const WallTime now = *parse_rfc3339("2026-11-15T03:52:25.900Z");

ResponseHead head_of(std::initializer_list<std::string_view> lines) {
    ResponseHead head;
    for (const auto line : lines) EXPECT_TRUE(head.add_line(line));
    return head;
}

Outcome answered(std::initializer_list<std::string_view> lines, TransferEnd end = {}) {
    return outcome_of(head_of(lines), end, now);
}

std::string unanswered(TransferEnd end) {
    const auto outcome = outcome_of({}, end, now);
    EXPECT_EQ(outcome.kind, Kind::failed);
    return outcome.what;
}

std::optional<std::chrono::seconds> patience_of(std::string_view value) {
    return answered({"HTTP/1.1 503 x", "Retry-After: " + std::string(value)}).retry_after;
}

TEST(WebhookResponse, TwoHundredsMeanDelivered) {
    for (const auto* line : {"HTTP/1.1 200 OK\r\n", "HTTP/1.1 204\r\n", "HTTP/2 202 \r\n"}) {
        EXPECT_EQ(answered({line, "\r\n"}).kind, Kind::delivered) << line;
    }
}

TEST(WebhookResponse, GoneMeansNeverAgain) {
    EXPECT_EQ(answered({"HTTP/1.1 410 Gone"}).kind, Kind::gone);
}

TEST(WebhookResponse, EverythingElseIsToBeTriedAgain) {
    for (const auto* code : {"400", "404", "500", "999"}) {
        const auto outcome = answered({std::string("HTTP/1.1 ") + code + " x"});
        EXPECT_EQ(outcome.kind, Kind::failed);
        EXPECT_EQ(outcome.what, std::string("HTTP ") + code);
        EXPECT_FALSE(outcome.retry_after);
    }
}

TEST(WebhookResponse, RedirectsAreToldAndNotFollowed) {
    EXPECT_EQ(answered({"HTTP/1.1 302 Found", "Location: https://x.test/a?token=t"}).what,
              "redirects are not followed: HTTP 302 to https://x.test/a");
    EXPECT_EQ(answered({"HTTP/1.1 304 x"}).what, "redirects are not followed: HTTP 304");
    EXPECT_EQ(answered({"HTTP/1.1 301 x", "location: /\x1b[2J\xc3\xa9"}).what,
              "redirects are not followed: HTTP 301 to /?[2J??");
    EXPECT_EQ(answered({"HTTP/1.1 301 x", "location: / ~\x7f\x1f"}).what,
              "redirects are not followed: HTTP 301 to / ~??");
    const auto longer = "Location: /" + std::string(5000, 'a');
    EXPECT_LT(answered({"HTTP/1.1 302 x", longer}).what.size(), 260U);
}

TEST(WebhookResponse, AnInterimAnswerIsNone) {
    EXPECT_FALSE(head_of({"HTTP/1.1 100 Continue", "", "HTTP/1.1 103 x"}).status());
    const auto head = head_of({"HTTP/1.1 103 x", "Retry-After: 5", "", "HTTP/1.1 429 x"});
    EXPECT_EQ(head.status(), 429);
    EXPECT_FALSE(head.retry_after(now)) << "it was not this answer's";
}

TEST(WebhookResponse, ItsStatusCountsWhateverBecomesOfTheRest) {
    const auto early = {CURLE_WRITE_ERROR, CURLE_PARTIAL_FILE, CURLE_OPERATION_TIMEDOUT};
    for (const auto code : early) {
        EXPECT_EQ(answered({"HTTP/1.1 200 OK"}, {.code = code}).kind, Kind::delivered);
        EXPECT_EQ(answered({"HTTP/1.1 500 x"}, {.code = code}).what, "HTTP 500");
    }
}

TEST(WebhookResponse, RetryAfterIsSecondsOrADate) {
    EXPECT_EQ(patience_of("120"), 120s);
    EXPECT_EQ(patience_of("  7 \r\n"), 7s);
    EXPECT_EQ(patience_of("Sun, 15 Nov 2026 03:53:25 GMT"), 60s);
    EXPECT_EQ(patience_of("Sunday, 15-Nov-26 03:53:25 GMT"), 60s);
    EXPECT_EQ(patience_of("Sun Nov 15 03:53:25 2026"), 60s);
}

TEST(WebhookResponse, RetryAfterIsBounded) {
    EXPECT_EQ(patience_of("86401"), 24h);
    EXPECT_EQ(patience_of("99999999999999999999999999"), 24h);
    EXPECT_EQ(patience_of("Fri, 31 Dec 9999 23:59:59 GMT"), 24h);
}

TEST(WebhookResponse, RetryAfterThatIsOverOrNonsenseIsNone) {
    for (const auto* value : {"0", "-5", "", "soon", "1.5", "5 minutes", "Sun, 15 Nov 2026",
                              "Sun, 15 Nov 2026 03:52:25 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"}) {
        EXPECT_FALSE(patience_of(value)) << value;
    }
}

TEST(WebhookResponse, RetryAfterCountsForEveryFailureAndNothingElse) {
    for (const auto* line : {"HTTP/1.1 429 x", "HTTP/1.1 503 x", "HTTP/1.1 500 x"}) {
        EXPECT_EQ(answered({line, "RETRY-AFTER:9"}).retry_after, 9s) << line;
    }
    EXPECT_FALSE(answered({"HTTP/1.1 200 x", "Retry-After: 9"}).retry_after);
    EXPECT_FALSE(answered({"HTTP/1.1 410 x", "Retry-After: 9"}).retry_after);
    EXPECT_FALSE(answered({"HTTP/1.1 503 x", "X-Retry-After: 9"}).retry_after);
}

TEST(WebhookResponse, FailuresAreToldInWords) {
    EXPECT_EQ(unanswered({.code = CURLE_OPERATION_TIMEDOUT, .was_connected = true, .timeout = 15s}),
              "timed out after 15 s");
    EXPECT_EQ(unanswered({.code = CURLE_OPERATION_TIMEDOUT, .timeout = 15s}),
              "no connection within 5 s");
    EXPECT_EQ(unanswered({.code = CURLE_OPERATION_TIMEDOUT, .timeout = 3s}),
              "no connection within 3 s");
    EXPECT_EQ(unanswered({.code = CURLE_COULDNT_CONNECT, .error = "Connection refused"}),
              "cannot connect: Connection refused");
    EXPECT_EQ(unanswered({.code = CURLE_PEER_FAILED_VERIFICATION, .error = "self-signed\n"}),
              "certificate not trusted: self-signed?");
    EXPECT_EQ(unanswered({.code = CURLE_COULDNT_CONNECT, .refused = "10.0.0.1 is internal"}),
              "address refused: 10.0.0.1 is internal");
    EXPECT_EQ(unanswered({.code = CURLE_GOT_NOTHING}),
              "the connection was closed without an answer");
    EXPECT_EQ(unanswered({.code = CURLE_OUT_OF_MEMORY}), "Out of memory");
    EXPECT_EQ(unanswered({}), "not an HTTP answer");
}

TEST(WebhookResponse, AHeadWithoutEndIsCut) {
    ResponseHead head;
    const std::string line(1000, 'x');
    std::size_t taken = 0;
    while (head.add_line(line)) taken += line.size();
    EXPECT_GT(taken, limits::webhook_head_bytes_max - 2 * line.size());
    EXPECT_LE(taken, limits::webhook_head_bytes_max);
    EXPECT_FALSE(head.add_line("HTTP/1.1 200 OK"));
    EXPECT_EQ(outcome_of(head, {.code = CURLE_WRITE_ERROR}, now).what,
              "the head of the answer is larger than 32 KiB");
}

}  // namespace
}  // namespace knell
