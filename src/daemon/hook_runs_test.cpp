#include "daemon/hook_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/small_file.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

SteadyTime at(std::chrono::nanoseconds since) {
    return SteadyTime{since};
}

HookRun run_of(Seq seq, std::string output) {
    return {.seq = seq,
            .type = "session:end",
            .session_id = "s",
            .at = from_millis(0),
            .took = 4ms,
            .outcome = {.kind = Outcome::Kind::delivered,
                        .what = {},
                        .output = std::move(output),
                        .retry_after = {}}};
}

class HookRunsTest : public ::testing::Test {
  protected:
    std::string file(const std::string& name) const {
        return read_small_file(folder.path() + "/runs/" + name + ".txt").value_or("");
    }
    const testing::TempFolder folder;
    HookRuns runs{folder.path() + "/runs"};
};

TEST(HookRunText, SaysHowItWentAndWhatWasWritten) {
    EXPECT_EQ(run_text(run_of(7, "one\ntwo\n")),
              "1970-01-01T00:00:00.000Z event 7 (session:end s) delivered in 4 ms\n  one\n  two\n");
    auto failed = run_of(8, "");
    failed.outcome.kind = Outcome::Kind::failed;
    failed.outcome.what = "exit 1";
    failed.session_id.clear();
    EXPECT_THAT(run_text(failed), HasSubstr("event 8 (session:end) failed in 4 ms: exit 1\n"));
}

TEST(HookRunText, IsFoundAgainInAFile) {
    EXPECT_THAT(runs_in("a\n  one\nb\nc\n  two\n  three\n"),
                ElementsAre("a\n  one\n", "b\n", "c\n  two\n  three\n"));
    EXPECT_THAT(runs_in(""), IsEmpty());
}

TEST_F(HookRunsTest, TheNewestComesFirstAndTenAreKept) {
    for (Seq seq = 1; seq <= 12; ++seq) runs.add("ops", run_text(run_of(seq, "")), at(0s));
    runs.save_all();

    const auto kept = runs_in(file("ops"));

    ASSERT_THAT(kept, SizeIs(10));
    EXPECT_THAT(kept.front(), HasSubstr("event 12 "));
    EXPECT_THAT(kept.back(), HasSubstr("event 3 "));
}

TEST_F(HookRunsTest, TheFirstIsWrittenAtOnceAndThenOnceASecond) {
    runs.add("ops", "one\n", at(0s));
    EXPECT_EQ(runs.next_save(), at(0s));
    runs.save(at(0s));
    EXPECT_EQ(file("ops"), "one\n");
    EXPECT_EQ(runs.next_save(), std::nullopt);

    runs.add("ops", "two\n", at(1s));
    runs.add("ops", "three\n", at(1500ms));
    runs.save(at(1999ms));
    EXPECT_EQ(file("ops"), "one\n");
    runs.save(at(2s));
    EXPECT_EQ(file("ops"), "three\ntwo\none\n");
}

TEST_F(HookRunsTest, WhatAnEarlierDaemonWroteIsKept) {
    runs.add("ops", "one\n", at(0s));
    runs.save_all();
    HookRuns next(folder.path() + "/runs");

    next.add("ops", "two\n", at(0s));
    next.save_all();

    EXPECT_EQ(file("ops"), "two\none\n");
}

}  // namespace
}  // namespace knell
