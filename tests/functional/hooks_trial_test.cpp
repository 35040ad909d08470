// Hooks as somebody writes them: a new one, a try without a daemon, what runs wrote, how often one
// is tried, and what is odd about one.

#include <filesystem>

#include <gmock/gmock.h>

#include "functional/harness/hooks.hpp"

namespace knell::functional {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(WithHooks, ANewOneWorksAsItIs) {
    const auto made = home.knell({"hooks", "new", "ops"});
    EXPECT_EQ(made.status, 0) << made.err;
    EXPECT_THAT(made.out, HasSubstr(home.file("hooks/ops")));

    const auto tried = home.knell({"hooks", "test", "ops"});
    EXPECT_EQ(tried.status, 0) << tried.out << tried.err;
    EXPECT_THAT(tried.out, HasSubstr("session:end: session knell-hooks-test ended: completed"));

    live_and_die("a");
    until([&] { return number(row("ops"), "delivered") >= 1; }, "the delivery");
    EXPECT_THAT(read_file(home.file("hooks/ops/events.log")), HasSubstr("session a ended"));
    EXPECT_EQ(home.knell({"hooks", "new", "ops"}).status, 1);
    EXPECT_EQ(home.knell({"config", "check"}).status, 0);
}

TEST_F(WithHooks, WhatARunWroteIsKeptForTheLastTen) {
    write_hook(home, "ops", "echo heard $KNELL_SESSION_ID", "\"session:end\"");
    wait_until_known("ops");
    for (int i = 1; i <= 11; ++i) live_and_die("s" + std::to_string(i));
    until([&] { return number(row("ops"), "delivered") == 11; }, "the deliveries");

    Outcome shown;
    until(
        [&] {
            shown = home.knell({"hooks", "runs", "ops"});
            return shown.out.contains("(session:end s11)");
        },
        "the last run to be kept");
    EXPECT_EQ(shown.status, 0);
    EXPECT_THAT(shown.out, AllOf(HasSubstr("delivered in"), HasSubstr("  heard s11\n"),
                                 HasSubstr("  heard s2\n"), Not(HasSubstr("  heard s1\n"))));
}

TEST_F(WithHooks, WithoutRetriesAFailureIsADeadLetterAtOnce) {
    write_hook(home, "ops", "exit 1", "\"session:end\"", "retries: 0\n");
    wait_until_known("ops");

    live_and_die("a");

    until([&] { return number(row("ops"), "dead") == 1; }, "the dead letter");
    EXPECT_EQ(number(row("ops"), "failures"), 1);
}

TEST_F(WithHooks, WhatIsOddIsRemarkedOn) {
    write_hook(home, "ops", "true", "session:ended, session:start", "command: [./run, '|', cat]\n");
    std::filesystem::create_directories(home.file("hooks/forgotten"));

    const auto checked = home.knell({"config", "check"});

    EXPECT_THAT(checked.out + checked.err,
                AllOf(HasSubstr("knell never sends session:ended; did you mean session:end?"),
                      HasSubstr("the command has | in it"),
                      HasSubstr("hooks/forgotten: error: there is no HOOK.yaml in it")));
}

TEST_F(WithHooks, AMisspeltNameIsToldWithTheNearest) {
    add_listener("diary");
    wait_until_known("diary");

    EXPECT_THAT(home.knell({"hooks", "test", "dairy"}).err, HasSubstr("did you mean diary?"));
}

TEST(HooksWithoutADaemon, AreTriedFromHere) {
    const TempHome home;
    write_hook(home, "ops", "echo tried; exit 3", "\"session:end\"");

    const auto outcome = home.knell({"hooks", "test", "ops"});

    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("no daemon runs"));
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("ops failed"), HasSubstr("tried")));
    EXPECT_EQ(home.knell({"status"}).status, 1);
    EXPECT_THAT(home.knell({"hooks", "test", "opps"}).err, HasSubstr("did you mean ops?"));
}

}  // namespace
}  // namespace knell::functional
