#include "cli/session_sentence.hpp"

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

const WallTime now = *parse_rfc3339("2026-11-15T12:00:00.000Z");

std::string sentence(std::string_view session) {
    return session_sentence(wire::parse_json(session).value().as_object(), "/home/me", now);
}

TEST(SessionSentence, SaysWhatDiedOfWhatAndWhen) {
    EXPECT_EQ(sentence(R"json({"status":"ended","title":"claude","cwd":"/home/me/proj",
                  "owner":{"kind":"process","command":"/usr/bin/claude"},
                  "reason":"signaled","detail":"signal 9 (SIGKILL)",
                  "started_at":"2026-11-15T08:00:00.000Z",
                  "ended_at":"2026-11-15T10:01:00.000Z"})json"),
              "claude in ~/proj died of SIGKILL 2 h after it started.");
    EXPECT_EQ(sentence(R"json({"status":"ended","title":"fix the build","cwd":"/srv",
                  "owner":{"kind":"process","command":"claude -p"},
                  "reason":"exited","detail":"exit 3",
                  "started_at":"2026-11-15T08:00:00.000Z",
                  "ended_at":"2026-11-15T08:01:30.000Z"})json"),
              "\"fix the build\" in /srv failed with exit status 3, 90 s after it started.");
    EXPECT_EQ(sentence(R"({"status":"ended","source":"gateway","reason":"idle_expiry",
                  "started_at":"2026-11-10T08:00:00.000Z",
                  "ended_at":"2026-11-15T08:00:00.000Z"})"),
              "A gateway session was ended by its policy because nobody had written for long "
              "5 days after it started.");
}

TEST(SessionSentence, NamesTheSignalThatACommandWasAskedBy) {
    EXPECT_EQ(sentence(R"json({"status":"ended","title":"opencode",
                  "owner":{"kind":"process","command":"opencode"},"reason":"completed",
                  "detail":"exit 0 after SIGHUP (terminal closed)",
                  "started_at":"2026-11-15T08:00:00.000Z",
                  "ended_at":"2026-11-15T08:05:00.000Z"})json"),
              "opencode ended by itself (exit 0 after SIGHUP (terminal closed)) 5 min after it "
              "started.");
}

TEST(SessionSentence, OfAnOpenOneSaysHowItIs) {
    const auto open = [](std::string_view more) {
        return sentence(R"({"title":"claude","owner":{"kind":"process","command":"claude"},
            "started_at":"2026-11-15T11:00:00.000Z",)" +
                        std::string(more) + "}");
    };
    EXPECT_EQ(open(R"("status":"running")"),
              "claude is working on a prompt, 60 min after it started.");
    EXPECT_EQ(open(R"("status":"idle")"), "claude is alive and idle, 60 min after it started.");
    EXPECT_EQ(open(R"("status":"idle","activity":"stopped")"),
              "claude is stopped, as by Ctrl-Z, 60 min after it started.");
    EXPECT_EQ(open(R"("status":"attached","attached":2)"),
              "claude is open, and 2 clients look at it, 60 min after it started.");
    EXPECT_EQ(open(R"("status":"unknown")"),
              "claude cannot be checked, so nobody knows whether it lives, 60 min after it "
              "started.");
}

TEST(SessionSentence, WithoutATimeSaysNothingOfIt) {
    EXPECT_EQ(sentence(R"({"status":"ended","reason":"reaped"})"),
              "A session was given up because its lease was not renewed in time.");
}

TEST(SessionSentence, CannotMoveTheCursor) {
    EXPECT_EQ(sentence(R"({"status":"idle","title":"a\u001b[2Jb"})"),
              "\"a?[2Jb\" is alive and idle.");
}

}  // namespace
}  // namespace knell::cli
