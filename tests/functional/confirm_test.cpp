// Ending sessions on a terminal: what would end is shown, and nothing does without a yes.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/on_terminal.hpp"
#include "functional/harness/owners.hpp"
#include "testing/fake_daemon.hpp"

namespace knell::functional {
namespace {

using ::testing::HasSubstr;

class Confirm : public WithOwners {
  protected:
    int on_terminal(std::vector<std::string> arguments, std::string_view typed) {
        return knell::functional::on_terminal(home, std::move(arguments), typed, shown);
    }

    std::string shown;
};

TEST_F(Confirm, EndShowsTheSessionAndEndsItOnlyForAYes) {
    create(R"({"id":"s","source":"cli","title":"a long talk","owner":{"kind":"lease"}})");

    EXPECT_EQ(on_terminal({"end", "s"}, "n\n"), 1);
    EXPECT_THAT(shown, HasSubstr("a long talk"));
    EXPECT_THAT(shown, HasSubstr("nothing was ended"));
    EXPECT_TRUE(is_open("s"));

    EXPECT_EQ(on_terminal({"end", "s"}, "y\n"), 0);
    EXPECT_THAT(shown, HasSubstr("s ended as completed"));
    EXPECT_FALSE(is_open("s"));
}

TEST_F(Confirm, EndAsksNothingWhereThereIsNothingToEnd) {
    create(R"({"id":"s","source":"cli","owner":{"kind":"lease"}})");
    ASSERT_EQ(home.knell({"end", "s"}).status, 0);

    EXPECT_EQ(on_terminal({"end", "s"}, ""), 0);
    EXPECT_THAT(shown, HasSubstr("had ended already"));
    EXPECT_EQ(on_terminal({"end", "nobody"}, ""), 1);
}

/// A daemon watches its owners and leaves nothing to reap: this one says that it did.
TEST(ConfirmReap, ShowsTheDeadAndEndsThemOnlyForAYes) {
    const TempHome home;
    const knell::testing::FakeDaemon daemon(
        knell::testing::paths_in(home.path()),
        {.answer = [](const std::string& line) -> std::string {
            if (!line.contains("node.sweep")) return "";
            return R"("result":{"dry_run":true,"checked":1,"ended_count":1,"ended":[{"session_id":)"
                   R"("a-dead-one","title":"t","reason":"owner_lost","proof":"observed",)"
                   R"("evidence":"no process 7 runs any more"}],"left_alone":[],"left_alone_count":0})";
        }});
    std::string shown;

    EXPECT_EQ(on_terminal(home, {"reap"}, "n\n", shown), 1);
    EXPECT_THAT(shown, HasSubstr("a-dead-one"));
    EXPECT_THAT(shown, HasSubstr("nothing was ended"));

    EXPECT_EQ(on_terminal(home, {"reap"}, "y\n", shown), 0);
    EXPECT_THAT(shown, ::testing::Not(HasSubstr("nothing was ended")));
}

}  // namespace
}  // namespace knell::functional
