#include "cli/run_session.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "testing/fake_daemon.hpp"
#include "testing/temp_folder.hpp"
#include "wire/error_table.hpp"

namespace knell::cli {
namespace {

TEST(DescribeEnd, ExitNoughtIsCompleted) {
    EXPECT_EQ(describe_end({W_EXITCODE(0, 0), {}}), (RunEnd{"completed", "exit 0"}));
}

TEST(DescribeEnd, AnyOtherCodeIsExited) {
    EXPECT_EQ(describe_end({W_EXITCODE(127, 0), {}}), (RunEnd{"exited", "exit 127"}));
}

TEST(DescribeEnd, ASignalIsNamed) {
    EXPECT_EQ(describe_end({W_EXITCODE(0, SIGKILL), {}}),
              (RunEnd{"signaled", "signal 9 (SIGKILL)"}));
    EXPECT_EQ(describe_end({W_EXITCODE(0, 40), {}}), (RunEnd{"signaled", "signal 40"}));
}

TEST(DescribeEnd, ACoreDumpDoesNotHideTheSignal) {
    EXPECT_EQ(describe_end({W_EXITCODE(0, SIGSEGV) | WCOREFLAG, {}}),
              (RunEnd{"signaled", "signal 11 (SIGSEGV)"}));
}

TEST(DescribeEnd, WhatAskedTheCommandToEndIsNamed) {
    const int done = W_EXITCODE(0, 0);
    EXPECT_EQ(describe_end({done, Interruption{.signal = SIGHUP, .by_terminal = true}}),
              (RunEnd{"completed", "exit 0 after SIGHUP (terminal closed)"}));
    EXPECT_EQ(describe_end({done, Interruption{.signal = SIGINT, .by_terminal = true}}),
              (RunEnd{"completed", "exit 0 after SIGINT (Ctrl-C)"}));
    EXPECT_EQ(describe_end({done, Interruption{.signal = 0, .by_terminal = true}}),
              (RunEnd{"completed", "exit 0 after the terminal closed"}));
    EXPECT_EQ(describe_end({W_EXITCODE(1, 0), Interruption{.signal = SIGTERM}}),
              (RunEnd{"exited", "exit 1 after SIGTERM"}));
}

TEST(DescribeEnd, AnInterruptionLongAgoSaysHowLong) {
    const Interruption early{
        .signal = SIGINT, .by_terminal = true, .before = std::chrono::seconds{75}};
    EXPECT_EQ(describe_end({W_EXITCODE(0, 0), early}),
              (RunEnd{"completed", "exit 0, 75 s after SIGINT (Ctrl-C)"}));
}

TEST(DescribeEnd, TheSignalItDiedOfIsNamedOnce) {
    const Interruption asked{.signal = SIGTERM};
    EXPECT_EQ(describe_end({W_EXITCODE(0, SIGTERM), asked}),
              (RunEnd{"signaled", "signal 15 (SIGTERM)"}));
    EXPECT_EQ(describe_end({W_EXITCODE(0, SIGKILL), asked}),
              (RunEnd{"signaled", "signal 9 (SIGKILL) after SIGTERM"}));
}

TEST(DescribeEnd, AKeyOfTheTerminalIsOne) {
    EXPECT_EQ(describe_end({W_EXITCODE(0, 0), Interruption{SIGQUIT, /*by_terminal=*/true, {}}}),
              (RunEnd{"completed", "exit 0 after SIGQUIT (from the terminal)"}));
}

/// A daemon that says no: what becomes of the record, and what the person is told.
class RunSessionTrial : public ::testing::Test {
  protected:
    using Answer = std::function<std::string(const std::string&)>;

    static std::string error(std::string_view kind) {
        return fmt::format(R"("error":{{"code":-32603,"message":"no","data":{{"kind":"{}"}}}})",
                           kind);
    }
    /// Says `said` to calls of `method`.
    static Answer to(const std::string& method, const std::string& said) {
        return [=](const std::string& line) { return line.contains(method) ? said : ""; };
    }
    /// What is told on the terminal when the command has exited with 0.
    std::string close() {
        ::testing::internal::CaptureStderr();
        session_.close({W_EXITCODE(0, 0), {}}, ::getpid());
        return ::testing::internal::GetCapturedStderr();
    }
    std::string spool_file() const { return paths_.spool_dir + "/s.jsonl"; }

    const knell::testing::TempFolder folder_;
    const Paths paths_ = knell::testing::paths_in(folder_.path());
    RunSession session_{paths_, {{"id", "s"}, {"source", "cli"}}};
};

TEST_F(RunSessionTrial, AnEndThatMayBeTakenLaterWaitsInTheSpool) {
    const knell::testing::FakeDaemon daemon(paths_,
                                            {.answer = to("session.close", error("storage"))});
    EXPECT_THAT(close(), ::testing::HasSubstr("the end of session s waits in the spool: no"));
    EXPECT_TRUE(std::filesystem::exists(spool_file()));
}

TEST_F(RunSessionTrial, AnEndThatCanBeKeptNowhereIsSaid) {
    const knell::testing::FakeDaemon daemon(paths_,
                                            {.answer = to("session.close", error("storage"))});
    std::ofstream(paths_.spool_dir) << "no directory";
    EXPECT_THAT(close(), ::testing::HasSubstr("the end of session s is not recorded"));
}

TEST_F(RunSessionTrial, EveryRefusalOfAnEndIsForLaterOrForGood) {
    for (const auto& row : wire::error_table) {
        if (row.code == ErrorCode::fenced) continue;  // see below
        const bool may_pass = row.code == ErrorCode::internal || row.code == ErrorCode::limit ||
                              row.code == ErrorCode::storage ||
                              row.code == ErrorCode::unauthorized ||
                              row.code == ErrorCode::unreachable;
        const knell::testing::TempFolder folder;
        const auto paths = knell::testing::paths_in(folder.path());
        const knell::testing::FakeDaemon daemon(paths,
                                                {.answer = to("session.close", error(row.name))});
        RunSession session{paths, {{"id", "s"}}};
        ::testing::internal::CaptureStderr();
        session.close({W_EXITCODE(0, 0), {}}, std::nullopt);
        EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                    ::testing::HasSubstr(may_pass ? "waits in the spool" : "is not recorded"))
            << row.name;
        EXPECT_EQ(std::filesystem::exists(paths.spool_dir), may_pass) << row.name;
    }
}

TEST_F(RunSessionTrial, AnEndThatWillNeverBeTakenIsSaid) {
    const knell::testing::FakeDaemon daemon(paths_,
                                            {.answer = to("session.close", error("not_found"))});
    EXPECT_THAT(close(), ::testing::HasSubstr("the end of session s is not recorded: no"));
    EXPECT_FALSE(std::filesystem::exists(spool_file()));
}

TEST_F(RunSessionTrial, OfASessionThatSomebodyTookOverNothingIsSaid) {
    const knell::testing::FakeDaemon daemon(paths_,
                                            {.answer = to("session.close", error("fenced"))});
    EXPECT_EQ(close(), "");
    EXPECT_FALSE(std::filesystem::exists(spool_file()));
}

TEST_F(RunSessionTrial, AnEndBehindACreateThatWasKeptIsMissed) {
    const knell::testing::FakeDaemon daemon(paths_,
                                            {.answer = to("session.create", error("storage"))});
    ::testing::internal::CaptureStderr();
    ASSERT_TRUE(session_.open(::getpid()));
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                ::testing::HasSubstr("the command runs, its record waits in"));
    std::filesystem::remove(spool_file());
    std::filesystem::create_directory(spool_file());
    EXPECT_THAT(close(), ::testing::HasSubstr("the end of session s is not recorded"));
}

TEST_F(RunSessionTrial, AReapedSessionIsOpenedAgainNowLaterOrNever) {
    const auto reaped = R"("result":{"generation":0,"reason":"reaped"})";
    struct Case {
        std::string answer;
        Reopened reopened;
        std::string told;
    };
    for (const auto& [answer, reopened, told] :
         {Case{R"("result":{"generation":2})", Reopened::yes, "it is open again, as generation 2"},
          Case{error("storage"), Reopened::not_yet, ""},
          Case{error("blocked"), Reopened::no, "is not open any more: no"}}) {
        const knell::testing::TempFolder folder;
        const auto paths = knell::testing::paths_in(folder.path());
        RunSession session{paths, {{"id", "s"}}};
        const knell::testing::FakeDaemon daemon(
            paths, {.answer = [&](const std::string& line) {
                return line.contains("session.resume") ? answer : std::string(reaped);
            }});
        ::testing::internal::CaptureStderr();
        EXPECT_EQ(session.open_again_if_reaped(::getpid()), reopened);
        EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr(told));
    }
}

}  // namespace
}  // namespace knell::cli
