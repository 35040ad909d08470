// What a person is told of a config.yaml of Hermes that is wrong:
// tests/golden/hermes.mistakes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foreign/hermes/config_check.hpp"
#include "testing/mistakes.hpp"

namespace knell::hermes {
namespace {

const HermesEnvironment nothing_beside{.file = "/h/.env", .lines = {}, .api_server_key = {}};

TEST(HermesMistakes, AreToldAsInTheTable) {
    const auto mistakes = knell::testing::check_mistakes(
        KNELL_GOLDEN_DIR "/hermes.mistakes", [](const knell::testing::Mistake& mistake) {
            std::string said;
            for (auto problem : check_hermes_config(mistake.text, "", nothing_beside)) {
                EXPECT_GE(problem.place.line, 1) << mistake.name;
                EXPECT_NE(problem.hint, "") << mistake.name << ": " << problem.message;
                EXPECT_THAT(to_text(problem),
                            ::testing::Not(::testing::ContainsRegex("sk-123|hunter2")));
                const auto place = to_text("", problem.place).substr(1);
                problem.file =
                    std::string(problem_level_names.at(static_cast<std::size_t>(problem.level)));
                problem.place = {};
                said += place + ": " + to_text(problem) + "\n";
            }
            EXPECT_NE(said, "") << mistake.name;
            return said;
        });

    EXPECT_GE(mistakes.size(), 30U);
}

}  // namespace
}  // namespace knell::hermes
