#include "cli/completion.hpp"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CompletionTest : public ::testing::Test {
  protected:
    CompletionTest() {
        auto* ls = app.add_subcommand("ls");
        ls->add_option("--status", text)->check(CLI::IsMember({"stalled", "ended"}));
        ls->add_flag("--json", flag, "As JSON");
        auto* stop = app.add_subcommand("stop");
        stop->add_option("ID", texts);
        auto* run = app.add_subcommand("run");
        run->add_option("--title", text);
        run->prefix_command();
        auto* title = app.add_subcommand("title");
        title->add_option("ID", text);
        title->add_option("TITLE", text);
    }
    Completion of(const std::vector<std::string>& words) { return complete(app, verbs, words); }
    std::vector<std::string> words_of(const std::vector<std::string>& words) {
        std::vector<std::string> found;
        for (auto& one : that_begin_with(words.back(), of(words).candidates)) {
            found.push_back(one.word);
        }
        return found;
    }

    static constexpr std::array verbs{
        VerbFacts{"ls", "", "", "List"}, VerbFacts{"stop", "", "", "Stop"},
        VerbFacts{"run", "", "", "Run"}, VerbFacts{"title", "", "", "Title"}};
    CLI::App app{"what it does", "knell"};
    std::string text;
    std::vector<std::string> texts;
    bool flag = false;
};

TEST_F(CompletionTest, FirstComesAVerb) {
    EXPECT_THAT(words_of({""}), ElementsAre("help", "ls", "run", "stop", "title"));
    EXPECT_THAT(words_of({"l"}), ElementsAre("ls"));
    EXPECT_THAT(words_of({"help", "r"}), ElementsAre("run"));
    EXPECT_THAT(words_of({"nonsense", "r"}), IsEmpty());
}

TEST_F(CompletionTest, ThenItsOptionsAndTheirValues) {
    EXPECT_THAT(words_of({"ls", "--j"}), ElementsAre("--json"));
    EXPECT_THAT(words_of({"ls", "--status", ""}), ElementsAre("ended", "stalled"));
    EXPECT_THAT(words_of({"ls", "--json", "--status", "s"}), ElementsAre("stalled"));
}

TEST_F(CompletionTest, AnArgumentSaysWhatIsToBeLookedUp) {
    EXPECT_THAT(of({"stop", ""}).wanted, ElementsAre(Wanted::sessions, Wanted::processes));
    EXPECT_THAT(of({"stop", "a", ""}).wanted, ElementsAre(Wanted::sessions, Wanted::processes));
    EXPECT_THAT(of({"title", ""}).wanted, ElementsAre(Wanted::sessions));
    EXPECT_THAT(of({"title", "a", ""}).wanted, IsEmpty());
    EXPECT_THAT(of({"ls", ""}).wanted, IsEmpty());
}

TEST_F(CompletionTest, ACommandIsTheShells) {
    EXPECT_THAT(words_of({"run", "--", "l"}), IsEmpty());
    EXPECT_THAT(words_of({"run", "--title", "t", "--", "--j"}), IsEmpty());
    EXPECT_THAT(words_of({"run", "claude", ""}), IsEmpty());
}

TEST_F(CompletionTest, EachComesOnce) {
    EXPECT_EQ(that_begin_with("a", {{"ab", "x"}, {"aa", ""}, {"ab", "y"}, {"b", ""}}),
              (std::vector<Candidate>{{"aa", ""}, {"ab", "x"}}));
}

}  // namespace
}  // namespace knell::cli
