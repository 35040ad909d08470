// What the webhook sender sends, judged by other people's code: the packages that receivers use to
// check signatures and to read events.

#include <cstdlib>

#include <gtest/gtest.h>

#include "functional/harness/client.hpp"
#include "functional/harness/receiver.hpp"
#include "platform/clock.hpp"
#include "testing/polled_sender.hpp"

namespace knell::functional {
namespace {

using namespace std::chrono_literals;
using Kind = knell::Outcome::Kind;

constexpr const char* secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
constexpr const char* other_secret = "whsec_GBkaGxwdHh8gISIjJCUmJygpKissLS4v";

const RenderedEvent rendered{
    .seq = 42,
    .id = "s1_1_end",
    .type = "session:end",
    .time = "2026-11-15T03:52:25.001Z",
    .session_id = "s1",
    .json = R"({"seq":42,"title":"caf\u00e9 ☕","cost":0.1,"big":9007199254740993})"};

class WebhookReceiver : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const auto why_not = why_no_receiver()) GTEST_SKIP() << *why_not;
        setenv("KNELL_TEST_SECRET", secret, 1);
        setenv("KNELL_TEST_OTHER_SECRET", other_secret, 1);
    }

    static WebhookSpec to(const Receiver& receiver, std::vector<SecretPlace> secrets) {
        return {.name = "ops",
                .url = receiver.url("/hook"),
                .secrets = std::move(secrets),
                .timeout = 30s};
    }
    knell::Outcome send(const WebhookSpec& spec, WallTime now = read_clocks().wall) {
        sender.start(1, spec, rendered, now);
        for (;;) {
            sender.wait(30s);
            const auto finished = sender.take_finished();
            if (!finished.empty()) return finished.front().outcome;
        }
    }

    const SecretPlace its_secret{.variable = "KNELL_TEST_SECRET"};
    const SecretPlace another{.variable = "KNELL_TEST_OTHER_SECRET"};
    knell::testing::PolledSender sender{"node7"};
};

TEST_F(WebhookReceiver, AcceptsTheSignatureAndReadsTheEvent) {
    Receiver receiver(secret);

    EXPECT_EQ(send(to(receiver, {its_secret})).kind, Kind::delivered);

    const auto seen = receiver.next();
    EXPECT_TRUE(at(seen, "ok").is_bool() && at(seen, "ok").as_bool()) << wire::to_text(seen);
    EXPECT_EQ(text(seen, "id"), "s1_1_end");
    EXPECT_EQ(text(seen, "source"), "/knell/node7");
    EXPECT_EQ(text(seen, "type"), "dev.knell.session.end.v1");
    EXPECT_EQ(text(seen, "subject"), "s1");
    EXPECT_EQ(text(seen, "time"), "2026-11-15T03:52:25.001Z");
    EXPECT_EQ(text(seen, "sequence"), "42");
    EXPECT_EQ(text(seen, "data.title"), "café ☕");
    EXPECT_TRUE(receiver.is_quiet());
}

TEST_F(WebhookReceiver, ThatKnowsEitherSecretIsContentWhileOneIsRotated) {
    Receiver before(secret);
    Receiver after(other_secret);
    EXPECT_EQ(send(to(before, {another, its_secret})).kind, Kind::delivered);
    EXPECT_EQ(send(to(after, {another, its_secret})).kind, Kind::delivered);
}

TEST_F(WebhookReceiver, RefusesAnotherSecretAndAnOldTimestamp) {
    Receiver receiver(secret);
    EXPECT_EQ(send(to(receiver, {another})).what, "HTTP 400");
    EXPECT_EQ(text(receiver.next(), "error"), "No matching signature found");
    EXPECT_EQ(send(to(receiver, {its_secret}), read_clocks().wall - 10min).what, "HTTP 400");
    EXPECT_EQ(text(receiver.next(), "error"), "Message timestamp too old");
}

TEST_F(WebhookReceiver, AnswersAsItsModeSays) {
    Receiver failing(secret, "fail=1");
    EXPECT_EQ(send(to(failing, {its_secret})).what, "HTTP 500");
    EXPECT_EQ(send(to(failing, {its_secret})).kind, Kind::delivered);

    Receiver gone(secret, "gone");
    EXPECT_EQ(send(to(gone, {its_secret})).kind, Kind::gone);
    Receiver busy(secret, "busy");
    EXPECT_EQ(send(to(busy, {its_secret})).retry_after, 1s);

    Receiver silent(secret, "hang");
    auto spec = to(silent, {its_secret});
    spec.timeout = 1s;
    EXPECT_EQ(send(spec).what, "timed out after 1 s");
}

}  // namespace
}  // namespace knell::functional
