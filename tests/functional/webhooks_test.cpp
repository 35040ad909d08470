// Webhooks of the config, against a receiver made of other people's packages.

#include <fmt/format.h>

#include "functional/harness/hooks.hpp"
#include "functional/harness/receiver.hpp"

namespace knell::functional {
namespace {

constexpr const char* secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";

class Webhooks : public WithHooks {
  protected:
    void SetUp() override {
        if (const auto why_not = why_no_receiver()) GTEST_SKIP() << *why_not;
        write_file(home.file("secret"), secret);
        chmod(home.file("secret").c_str(), 0600);
    }
    void send_to(const Receiver& receiver, const std::string& more = {}) {
        write_file(home.file("config.yaml"),
                   fmt::format("webhooks:\n  - name: web\n    url: {}\n    secret_file: secret\n"
                               "    events: [\"session:*\"]\n{}",
                               receiver.url("/hook"), more));
        wait_until_known("web");
    }
};

TEST_F(Webhooks, ArePickedUpFromTheConfigAndSignedCloudEvents) {
    Receiver receiver(secret);
    send_to(receiver);
    live_and_die("a");
    const auto start = receiver.next();
    const auto end = receiver.next();
    EXPECT_EQ(at(start, "ok"), Json(true)) << text(start, "error");
    EXPECT_EQ(text(start, "type"), "dev.knell.session.start.v1");
    EXPECT_EQ(text(end, "type"), "dev.knell.session.end.v1");
    EXPECT_EQ(text(end, "id"), "a_1_end");
    EXPECT_EQ(text(end, "subject"), "a");
    EXPECT_EQ(text(end, "data.reason"), "completed");
    EXPECT_EQ(text(end, "data.session_key"), "k:a");
}

TEST_F(Webhooks, AFailureIsTriedAgainUnderTheSameId) {
    Receiver receiver(secret, "fail=1");
    send_to(receiver);
    live_and_die("a");
    EXPECT_EQ(text(receiver.next(), "id"), "a_1_start");
    wait_for_state("web", "failing");
    EXPECT_EQ(text(row("web"), "last_error"), "HTTP 500");
    EXPECT_EQ(home.knell({"hooks", "retry"}).out, "2 events are sent again now\n");
    EXPECT_EQ(text(receiver.next(), "id"), "a_1_start");
    EXPECT_EQ(text(receiver.next(), "id"), "a_1_end") << "behind the one that failed";
    wait_for_state("web", "active");
}

TEST_F(Webhooks, OneThatIsGoneIsDisabledUntilAPersonResumesIt) {
    Receiver receiver(secret, "gone");
    send_to(receiver);
    add_listener("ears", "notice");
    live_and_die("a");
    EXPECT_EQ(text(receiver.next(), "id"), "a_1_start");
    wait_for_state("web", "disabled");
    until([&] { return !heard("ears").empty(); }, "a notice for a person");
    EXPECT_NE(text(heard("ears").front(), "detail").find("subscriber web"), std::string::npos);
    daemon.restart();
    reconnect();
    wait_for_state("web", "disabled");
    EXPECT_TRUE(receiver.is_quiet());
}

TEST_F(Webhooks, AReceiverThatNeverAnswersDelaysNobody) {
    Receiver hanging(secret, "hang");
    send_to(hanging);
    add_listener("good", "\"session:end\"");
    for (int i = 0; i < 10; ++i) live_and_die(fmt::format("s{}", i));
    for (int i = 0; i < 10; ++i) wait_until_heard("good", fmt::format("s{}_1_end", i));
    EXPECT_EQ(number(row("web"), "under_way"), 1);
    EXPECT_EQ(number(row("web"), "delivered"), 0);
}

TEST_F(Webhooks, APatientReceiverIsObeyed) {
    Receiver busy(secret, "busy");
    send_to(busy);
    live_and_die("a");
    EXPECT_EQ(text(busy.next(), "id"), "a_1_start");
    wait_for_state("web", "failing");
    EXPECT_EQ(text(row("web"), "last_error"), "HTTP 429");
}

TEST_F(Webhooks, AMalformedConfigIsReportedAndTheOldOneStands) {
    Receiver receiver(secret);
    send_to(receiver);
    write_file(home.file("config.yaml"), "webhooks:\n  - nmae: web\n");
    until([&] { return !array(client.must("hooks.list"), "problems").empty(); }, "the problem");
    EXPECT_NE(home.knell({"hooks"}).out.find("config.yaml:2"), std::string::npos);
    live_and_die("a");
    EXPECT_EQ(text(receiver.next(), "id"), "a_1_start");
}

TEST_F(Webhooks, TheSecretIsNowhereToBeSeen) {
    Receiver receiver(secret, "fail=100");
    send_to(receiver);
    live_and_die("a");
    wait_for_state("web", "failing");
    for (const auto& text :
         {home.knell({"hooks", "ls", "--json"}).out, home.knell({"config", "check"}).out,
          home.knell({"hooks", "letters", "--json"}).out, daemon.log()}) {
        EXPECT_EQ(text.find("AAECAwQF"), std::string::npos);
    }
}

}  // namespace
}  // namespace knell::functional
