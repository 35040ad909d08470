// Conversations that a person resets, branches or compresses by their key: what is asked and shown.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/background.hpp"
#include "functional/harness/on_terminal.hpp"

namespace knell::functional {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ResetCommand : public WithBackground {
  protected:
    void SetUp() override {
        session = text(client.must("session.route", R"({"key":"chat:42","source":"gateway"})"),
                       "session_id");
    }
    /// A process that is in the way of a reset.
    std::string start_vouched() {
        auto id = id_of(start({"sleep", "1000"}));
        client.must("process.vouch", fmt::format(R"({{"process_id":"{}","until":"2h"}})", id));
        return id;
    }
    int on_terminal(std::vector<std::string> arguments, std::string_view typed) {
        return functional::on_terminal(home, std::move(arguments), typed, shown);
    }

    std::string shown;
};

TEST_F(ResetCommand, AsksNothingThatWouldBeRefused) {
    const auto process = start_vouched();

    EXPECT_EQ(on_terminal({"reset", "chat:42"}, ""), 1);

    EXPECT_THAT(shown, AllOf(HasSubstr("chat:42 is not reset: background work is in the way"),
                             HasSubstr(process), HasSubstr("knell reset --force chat:42"),
                             Not(HasSubstr("End this conversation?"))));
    EXPECT_TRUE(is_open(session));
}

TEST_F(ResetCommand, ShowsWhatItForcesBeforeItAsks) {
    const auto process = start_vouched();

    EXPECT_EQ(on_terminal({"reset", "chat:42", "--force"}, "n\n"), 1);
    EXPECT_LT(shown.find(process), shown.find("End this conversation?"));
    EXPECT_TRUE(is_open(session));

    EXPECT_EQ(on_terminal({"reset", "chat:42", "--force"}, "y\n"), 0);
    EXPECT_THAT(shown, HasSubstr("ended as manual_reset"));
    EXPECT_FALSE(is_open(session));
}

TEST_F(ResetCommand, ADryRunNamesWhatIsInTheWayAsTheRefusalDoes) {
    start_vouched();

    const auto preview = parse(home.knell({"reset", "chat:42", "--dry-run", "--json"}).out);
    const auto refused = parse(home.knell({"reset", "chat:42", "--yes", "--json"}).out);

    EXPECT_EQ(array(preview, "blockers").size(), 1U);
    EXPECT_EQ(at(preview, "blockers"), at(refused, "error.data.blockers"));
}

TEST_F(ResetCommand, ADryRunOfOneThatDiedNamesWhatIsInTheWay) {
    auto gateway = idle_process();
    session = text(
        client.must("session.route",
                    fmt::format(R"({{"key":"chat:7","source":"gateway","owner":{{"pid":{}}}}})",
                                gateway.pid())),
        "session_id");
    const auto process = start_vouched();
    gateway.signal(SIGKILL);
    gateway.wait();
    until([&] { return !is_open(session); }, "its end");

    const auto preview = home.knell({"reset", "chat:7", "--dry-run"});
    const auto refused = home.knell({"reset", "chat:7", "--yes"});

    EXPECT_EQ(preview.status, 1);
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(preview.out, HasSubstr(process));
    EXPECT_THAT(refused.err, HasSubstr(process));
}

TEST_F(ResetCommand, ABranchTakesAKeyToo) {
    const auto branched = home.knell({"branch", "chat:42"});

    EXPECT_EQ(branched.status, 0) << branched.err;
    EXPECT_THAT(branched.out, HasSubstr("branched off " + session));
    EXPECT_EQ(text(show(session), "reason"), "branched");
}

TEST_F(ResetCommand, ACompressionTakesAKeyToo) {
    const auto compressed = home.knell({"compress", "chat:42"});

    EXPECT_EQ(compressed.status, 1);
    EXPECT_THAT(compressed.err, AllOf(HasSubstr("knell compress: "), Not(HasSubstr("no session"))))
        << "there is nothing to summarise, and no provider";
}

TEST_F(ResetCommand, AKeyOfNobodySaysSo) {
    for (const auto* verb : {"branch", "compress"}) {
        const auto refused = home.knell({verb, "chat:7"});
        EXPECT_EQ(refused.status, 1);
        EXPECT_THAT(refused.err, HasSubstr("no session with the id or key chat:7")) << verb;
    }
}

}  // namespace
}  // namespace knell::functional
