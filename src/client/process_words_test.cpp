#include "client/process_words.hpp"

#include <gtest/gtest.h>

namespace knell::client {
namespace {

JsonObject row(std::string_view text) {
    return wire::parse_json(text).value().as_object();
}

TEST(ExitWords, SayHowItEnded) {
    EXPECT_EQ(exit_words(row(R"({"state":"running"})")), "");
    EXPECT_EQ(exit_words(row(R"({"exit":{"kind":"exited","code":3}})")), "exit 3");
    EXPECT_EQ(exit_words(row(R"({"exit":{"kind":"signaled","signal":9}})")), "signal 9 (SIGKILL)");
    EXPECT_EQ(exit_words(row(R"({"exit":{"kind":"oom_killed","signal":9}})")),
              "killed by the kernel for want of memory");
    EXPECT_EQ(exit_words(row(R"({"exit":{"kind":"lost"}})")), "gone, nobody saw how");
    EXPECT_EQ(exit_words(row(R"({"exit":{"kind":"host_restart"}})")), "the host was restarted");
    EXPECT_EQ(exit_words(row(R"({"exit":{"kind":"never_ran","evidence":"no such file"}})")),
              "never ran: no such file");
}

TEST(IsBeingStopped, IsWhatTheDaemonSays) {
    EXPECT_TRUE(is_being_stopped(row(R"({"state":"exited","stopping":true})")));
    EXPECT_FALSE(is_being_stopped(
        row(R"({"state":"exited","stopping":false,"stop_asked_at":"2026-05-20T11:59:59.000Z"})")));
    EXPECT_FALSE(is_being_stopped(row(R"({"state":"running"})")));
    // As an earlier version told it.
    EXPECT_TRUE(
        is_being_stopped(row(R"({"state":"running","stop_asked_at":"2026-05-20T11:59:59.000Z"})")));
    EXPECT_FALSE(
        is_being_stopped(row(R"({"state":"exited","stop_asked_at":"2026-05-20T11:59:59.000Z"})")));
}

TEST(SessionWords, NameASessionThatIsNoLongerOpen) {
    EXPECT_EQ(session_words(row(R"({"session":"open"})")), "");
    EXPECT_EQ(session_words(row(R"({"session":"ended"})")), "its session has ended");
    EXPECT_EQ(session_words(row(R"({"session":"none"})")), "it has no session any more");
}

}  // namespace
}  // namespace knell::client
