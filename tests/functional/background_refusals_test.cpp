// What background processes and their files may not be, and what is said instead of nothing.

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "functional/harness/background.hpp"

namespace knell::functional {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class BackgroundRefusals : public WithBackground {};

TEST_F(BackgroundRefusals, AFolderForOutputThatLeadsElsewhereIsNotUsed) {
    const TempHome other;
    const auto elsewhere = other.file("elsewhere");
    ASSERT_EQ(::mkdir(elsewhere.c_str(), 0755), 0);
    ASSERT_EQ(::chmod(elsewhere.c_str(), 0755), 0);
    ASSERT_EQ(::symlink(elsewhere.c_str(), other.file("processes").c_str()), 0);

    const auto outcome = other.knell({"up"});

    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("knell does not start: "), HasSubstr(other.file("processes")),
                      HasSubstr("is a symbolic link")));
    EXPECT_EQ(mode_of(elsewhere), 0755U);
    EXPECT_TRUE(std::filesystem::is_empty(elsewhere));
}

TEST_F(BackgroundRefusals, AThreadOfTheKernelIsNobodysProcess) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root may register another's process at all";
    if (run_command({.argv = {"cat", "/proc/2/comm"}}).out != "kthreadd\n") {
        GTEST_SKIP() << "none can be seen in this pid namespace";
    }
    const auto refused =
        client.call("process.register", fmt::format(R"({{"session_id":"{}","pid":2}})", session));
    EXPECT_EQ(refused.field(), "pid");
    EXPECT_THAT(refused.message(), HasSubstr("is a thread of the kernel"));
}

TEST_F(BackgroundRefusals, OutputThatItsProcessThrewAwayIsToldAsAGap) {
    const auto id = id_of(start_shell("echo first words; echo a complaint > /dev/stderr"));
    exited(id);
    const auto page = output(id);
    EXPECT_EQ(text(page, "output"), "a complaint\n");
    EXPECT_EQ(number(page, "gap.from"), 0);
    EXPECT_EQ(number(page, "gap.to") + 1, number(page, "after"));
    const auto logs = home.knell({"logs", id});
    EXPECT_EQ(logs.out, "a complaint\n");
    EXPECT_THAT(logs.err, HasSubstr("are no longer kept"));
}

TEST_F(BackgroundRefusals, OutputAskedForPastItsEndIsNothingAndSaysWhereThatIs) {
    const auto id = id_of(start({"echo", "words"}));
    exited(id);
    const auto page = output(id, R"("after":1000)");
    EXPECT_EQ(text(page, "output"), "");
    EXPECT_EQ(number(page, "next"), 6);
    EXPECT_EQ(page.as_object().if_contains("gap"), nullptr);
}

TEST_F(BackgroundRefusals, AMistypedSessionIsNotAnEmptyOne) {
    EXPECT_EQ(client.call("process.list", R"({"session_id":"nope"})").kind(), "not_found");
    for (const auto* verb : {"ps", "stop"}) {
        const auto outcome = home.knell({verb, "--session", "nope"});
        EXPECT_EQ(outcome.status, 1) << verb;
        EXPECT_THAT(outcome.err, HasSubstr("no session nope")) << verb;
        EXPECT_EQ(home.knell({verb, "--session", session}).status, 0) << verb;
    }
    EXPECT_EQ(home.knell({"ps", "--session", session, "--task", "nobody's"}).status, 0);
}

TEST_F(BackgroundRefusals, WordsThatAreNoTextAreNamed) {
    const auto started = [&](std::vector<std::string> more) {
        std::vector<std::string> words{"start", "--session", session};
        words.insert(words.end(), more.begin(), more.end());
        return home.knell(words);
    };
    const auto word = started({"--", "echo", "fine", "\xff"});
    EXPECT_EQ(word.status, 2);
    EXPECT_THAT(word.err, HasSubstr("argument 2 of the program is not UTF-8"));
    EXPECT_THAT(started({"--", "\xff"}).err, HasSubstr("the program's name is not UTF-8"));
    EXPECT_THAT(started({"--env", "KEY=\xff", "--", "echo"}).err,
                HasSubstr("the value of --env KEY is not UTF-8"));
    EXPECT_THAT(started({"--", "/tmp"}).err, HasSubstr("/tmp is a directory"));
    EXPECT_THAT(started({"--env", "KNELL_X=secret", "--", "echo"}).err,
                AllOf(HasSubstr("KNELL_X"), testing::Not(HasSubstr("secret"))));
    EXPECT_TRUE(rows().empty());
}

}  // namespace
}  // namespace knell::functional
