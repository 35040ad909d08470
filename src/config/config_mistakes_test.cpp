// What a person is told of a config.yaml that is wrong: tests/golden/config.mistakes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.hpp"
#include "testing/mistakes.hpp"

namespace knell {
namespace {

std::vector<FileProblem> problems_of(const std::string& text) {
    return usable_part(text, "/k/config.yaml", "/home/ann").problems;
}

TEST(ConfigMistakes, AreToldAsInTheTable) {
    const auto mistakes = testing::check_mistakes(
        KNELL_GOLDEN_DIR "/config.mistakes", [](const testing::Mistake& mistake) {
            std::string said;
            for (auto problem : problems_of(mistake.text)) {
                problem.file =
                    std::string(problem_level_names.at(static_cast<std::size_t>(problem.level)));
                const auto place = to_text("", problem.place).substr(1);
                problem.place = {};
                said += place + ": " + to_text(problem) + "\n";
            }
            return said;
        });

    EXPECT_GE(mistakes.size(), 60U);
}

TEST(ConfigMistakes, HaveAPlaceAndSayWhatWouldBeRight) {
    const auto mistakes =
        testing::check_mistakes(KNELL_GOLDEN_DIR "/config.mistakes",
                                [](const testing::Mistake& mistake) { return mistake.said; });

    for (const auto& mistake : mistakes) {
        const auto problems = problems_of(mistake.text);
        EXPECT_FALSE(problems.empty()) << mistake.name;
        for (const auto& problem : problems) {
            EXPECT_GE(problem.place.line, 1) << mistake.name;
            EXPECT_GE(problem.place.column, 1) << mistake.name;
            EXPECT_NE(problem.hint, "") << mistake.name << ": " << problem.message;
            EXPECT_THAT(to_text(problem), ::testing::Not(::testing::HasSubstr("c2VjcmV0")));
        }
    }
}

}  // namespace
}  // namespace knell
