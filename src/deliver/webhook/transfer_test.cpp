#include "deliver/webhook/transfer.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <list>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/loopback_server.hpp"
#include "testing/sample_event.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::LoopbackServer;
using Kind = Outcome::Kind;
using Then = LoopbackServer::Then;

const auto& rendered = testing::sample_event;
const auto now = testing::sample_now;

/// Transfers that share one pool of connections, as the sender's do.
class WebhookTransfers : public ::testing::Test {
  protected:
    WebhookTransfers() { setenv("KNELL_TEST_SECRET", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX", 1); }
    ~WebhookTransfers() override {
        curl_multi_cleanup(multi_);
        unsetenv("KNELL_TEST_SECRET");
    }

    static std::unique_ptr<WebhookTransfer> prepare(const std::string& url,
                                                    bool allow_internal = false,
                                                    std::chrono::seconds timeout = 30s) {
        const WebhookSpec spec{.name = "ops",
                               .url = url,
                               .secrets = {{.variable = "KNELL_TEST_SECRET"}},
                               .allow_internal = allow_internal,
                               .timeout = timeout};
        auto transfer = WebhookTransfer::prepare(7, spec, rendered, "node7", now);
        EXPECT_TRUE(transfer);
        return std::move(*transfer);
    }
    void begin(const WebhookTransfer& transfer) {
        EXPECT_EQ(curl_multi_add_handle(multi_, transfer.handle()), CURLM_OK);
    }
    /// Waits until another one has ended.
    std::pair<const WebhookTransfer*, Outcome> end_one() {
        for (;;) {
            int count = 0;
            EXPECT_EQ(curl_multi_perform(multi_, &count), CURLM_OK);
            if (const auto* message = curl_multi_info_read(multi_, &count)) {
                const auto& transfer = WebhookTransfer::of(message->easy_handle);
                auto outcome = transfer.outcome(message->data.result);
                curl_multi_remove_handle(multi_, transfer.handle());
                return {&transfer, std::move(outcome)};
            }
            curl_multi_poll(multi_, nullptr, 0, 30'000, nullptr);
        }
    }
    Outcome perform(const WebhookTransfer& transfer) {
        begin(transfer);
        const auto [which, outcome] = end_one();
        EXPECT_EQ(which, &transfer);
        return outcome;
    }

    CURLM* const multi_ = curl_multi_init();
};

TEST_F(WebhookTransfers, AKeptConnectionIsHeldAgainstTheRuleOfWhoUsesIt) {
    // One name, two webhooks: a person wrote for the first that it may be internal.
    const LoopbackServer server([](const auto&) {
        return LoopbackServer::Reply{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Then::keep};
    });
    const auto first = prepare(server.url("/first"));
    EXPECT_EQ(perform(*first).kind, Kind::delivered);

    const auto second = prepare("https://rebound.localhost/");
    // As if its name meant that address by now, so that the connection fits.
    ASSERT_EQ(curl_easy_setopt(second->handle(), CURLOPT_URL, server.url("/second").c_str()),
              CURLE_OK);
    const auto outcome = perform(*second);

    EXPECT_EQ(outcome.kind, Kind::failed);
    EXPECT_THAT(outcome.what, HasSubstr("127.0.0.1 is internal (loopback)"));
    ASSERT_EQ(server.requests().size(), 1U) << "the event was sent";
    EXPECT_EQ(server.connections(), 1U);

    const auto third = prepare("https://rebound.localhost/", /*allow_internal=*/true);
    ASSERT_EQ(curl_easy_setopt(third->handle(), CURLOPT_URL, server.url("/third").c_str()),
              CURLE_OK);
    EXPECT_EQ(perform(*third).kind, Kind::delivered);
}

// How a network and a receiver can fail, and what is told of each.
struct Trouble {
    std::string_view name;
    std::string_view bytes;  // what the receiver says
    Then then;
    Kind kind;
    std::string_view what;
};
constexpr std::array troubles{
    Trouble{"closes at once", "", Then::close, Kind::failed,
            "the connection was closed without an answer"},
    Trouble{"never answers", "", Then::hang, Kind::failed, "timed out after 1 s"},
    Trouble{"stops in the status line", "HTTP/1.1 2", Then::close, Kind::failed, ""},
    Trouble{"hangs in the status line", "HTTP/1.1 2", Then::hang, Kind::failed,
            "timed out after 1 s"},
    Trouble{"stops in the head", "HTTP/1.1 200 OK\r\nX-A: 1\r\n", Then::close, Kind::delivered,
            "HTTP 200"},
    Trouble{"hangs in the body", "HTTP/1.1 503 x\r\nContent-Length: 9\r\n\r\nabc", Then::hang,
            Kind::failed, "HTTP 503"},
    Trouble{"stops in the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", Then::close,
            Kind::delivered, "HTTP 200"},
    Trouble{"only ever begins", "HTTP/1.1 100 Continue\r\n\r\n", Then::hang, Kind::failed,
            "timed out after 1 s"},
    Trouble{"speaks something else", "SSH-2.0-OpenSSH_9.2\r\n", Then::close, Kind::failed, ""},
    Trouble{"a chunk that is none", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            Then::close, Kind::delivered, "HTTP 200"},
    Trouble{"just not two hundred", "HTTP/1.1 199 x\r\n\r\n", Then::hang, Kind::failed,
            "timed out after 1 s"},
    Trouble{"the last two hundred", "HTTP/1.1 299 x\r\nContent-Length: 0\r\n\r\n", Then::close,
            Kind::delivered, "HTTP 299"},
    Trouble{"the first three hundred", "HTTP/1.1 300 x\r\nContent-Length: 0\r\n\r\n", Then::close,
            Kind::failed, "redirects are not followed: HTTP 300"},
    Trouble{"gone", "HTTP/1.1 410 x\r\nContent-Length: 0\r\n\r\n", Then::close, Kind::gone,
            "HTTP 410"},
    Trouble{"just before gone", "HTTP/1.1 409 x\r\nContent-Length: 0\r\n\r\n", Then::close,
            Kind::failed, "HTTP 409"},
};

TEST_F(WebhookTransfers, EveryTroubleHasItsOutcome) {
    std::list<LoopbackServer> servers;
    std::vector<std::unique_ptr<WebhookTransfer>> transfers;
    for (const auto& trouble : troubles) {
        const auto& server = servers.emplace_back([&trouble](const auto&) {
            return LoopbackServer::Reply{std::string(trouble.bytes), trouble.then};
        });
        // Whoever asks for none gets the shortest timeout there is.
        transfers.push_back(prepare(server.url(), /*allow_internal=*/false, 0s));
        begin(*transfers.back());
    }
    for (std::size_t ended = 0; ended < transfers.size(); ++ended) {
        const auto [which, outcome] = end_one();
        const auto at = std::ranges::find(transfers, which, &std::unique_ptr<WebhookTransfer>::get);
        const auto& trouble = troubles.at(static_cast<std::size_t>(at - transfers.begin()));

        EXPECT_EQ(outcome.kind, trouble.kind) << trouble.name << ": " << outcome.what;
        if (!trouble.what.empty()) {
            EXPECT_EQ(outcome.what, trouble.what) << trouble.name;
        }
        EXPECT_FALSE(outcome.what.empty()) << trouble.name;
    }
}

TEST_F(WebhookTransfers, WithoutAConnectionItsShorterBoundIsTold) {
    const auto told = [](std::chrono::seconds timeout) {
        return prepare("http://127.0.0.1/", false, timeout)->outcome(CURLE_OPERATION_TIMEDOUT).what;
    };
    EXPECT_EQ(told(3600s), "no connection within 5 s");
    EXPECT_EQ(told(4s), "no connection within 4 s");
    EXPECT_EQ(told(0s), "no connection within 1 s");
}

TEST_F(WebhookTransfers, AnIdThatDoesNotFitAHeaderIsNotSent) {
    auto bad = rendered;
    bad.id = "a\r\nX-Evil: 1";
    const auto transfer = WebhookTransfer::prepare(
        7, {.url = "http://127.0.0.1/", .secrets = {{.variable = "KNELL_TEST_SECRET"}}}, bad, "n",
        now);
    ASSERT_FALSE(transfer);
    EXPECT_EQ(transfer.error().code, ErrorCode::internal);
}

}  // namespace
}  // namespace knell
