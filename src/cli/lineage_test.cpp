#include "cli/lineage.hpp"

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

const WallTime now = *parse_rfc3339("2026-11-15T12:00:00.000Z");

JsonObject parse(std::string_view text) {
    return wire::parse_json(text).value().as_object();
}

TEST(LineageText, OfOneThatIsAloneIsNothing) {
    EXPECT_EQ(lineage_text({.sessions = {parse(R"({"id":"a","status":"idle"})")}}, {}, now), "");
}

TEST(LineageText, DrawsTheChainWithHowAndWhyItWentOn) {
    const Lineage lineage{
        .sessions = {parse(R"({"id":"gone"})"), parse(R"({"id":"a","status":"ended",
            "relation":"compression","reason":"idle_expiry","proof":"policy",
            "ended_at":"2026-11-15T11:00:00.000Z"})"),
                     parse(R"({"id":"b","status":"idle","relation":"reset"})")},
        .place = 1};

    EXPECT_EQ(lineage_text(lineage, {}, now),
              "gone  not on record\n"
              "  └ compression: a (this one)  ended 1h ago: idle_expiry (policy)\n"
              "    └ reset: b  idle\n");
}

TEST(LineageText, SaysThatThereIsMore) {
    const Lineage lineage{.sessions = {parse(R"({"id":"a","status":"idle","relation":"branch"})"),
                                       parse(R"({"id":"b","status":"idle","relation":"branch"})")},
                          .place = 0,
                          .has_older = true,
                          .has_newer = true};

    EXPECT_EQ(lineage_text(lineage, {}, now),
              "...\n"
              "└ branch: a (this one)  idle\n"
              "  └ branch: b  idle\n"
              "    ...\n");
}

}  // namespace
}  // namespace knell::cli
