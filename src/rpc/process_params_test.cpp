#include "rpc/process_params.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::rpc {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const WallTime now = *parse_rfc3339("2026-11-15T12:00:00.000Z");
const JsonObject nothing;

/// What was read, or what is wrong with it.
template <typename Read>
std::string refusal(Read read) {
    wire::FieldReader given(nothing);
    read(given);
    return given.error() ? given.error()->message : std::string{};
}

std::optional<WallTime> until(std::string_view text) {
    wire::FieldReader given(nothing);
    const auto read = read_until(given, text, now);
    EXPECT_FALSE(given.error()) << given.error()->message;
    return read;
}

std::string why_not_until(std::string_view text) {
    return refusal([text](auto& given) { read_until(given, text, now); });
}

TEST(ProcessUntil, IsATimeOrADurationOrOff) {
    EXPECT_EQ(until("2h"), now + 2h);
    EXPECT_EQ(until("1s"), now + 1s);
    EXPECT_EQ(until("7d"), now + 7 * 24h);
    EXPECT_EQ(until("2026-11-15T14:00:00Z"), now + 2h);
    EXPECT_EQ(until("2026-11-15T15:00:00.5+02:00"), now + 1h + 500ms);
    EXPECT_EQ(until("off"), std::nullopt);
}

TEST(ProcessUntil, IsLaterThanNowAndNotFarAhead) {
    for (const auto* text : {"0s", "2026-11-15T12:00:00Z", "2026-11-15T11:59:59.999Z"}) {
        EXPECT_THAT(why_not_until(text), HasSubstr("later than now")) << text;
    }
    for (const auto* text :
         {"8d", "169h", "604801s", "1000000000000d", "2026-11-22T12:00:00.001Z"}) {
        EXPECT_THAT(why_not_until(text), HasSubstr("7 days")) << text;
    }
    for (const auto* text :
         {"2", "7200", "-2h", "2 h", "1h30m", "soon", "Off", "2026-11-16", "h"}) {
        EXPECT_THAT(why_not_until(text), HasSubstr("until: is neither")) << text;
    }
}

std::vector<std::string> argv(std::string_view json) {
    wire::FieldReader given(nothing);
    const auto words = wire::parse_json(json);
    auto read = read_argv(given, &words->as_array());
    EXPECT_FALSE(given.error()) << given.error()->message;
    return read;
}

std::string why_not_argv(const JsonArray& words) {
    return refusal([&words](auto& given) { read_argv(given, &words); });
}

TEST(ProcessArgv, IsAnyTextThatAProgramCanBeGiven) {
    EXPECT_THAT(argv(R"(["sh","-c","echo a\nb\tc","","ä"])"),
                ElementsAre("sh", "-c", "echo a\nb\tc", "", "ä"));
    EXPECT_EQ(why_not_argv({"a", 1}), "argv[1]: must be a string");
    EXPECT_EQ(why_not_argv({"a", std::string("b\0c", 3)}), "argv[1]: must not hold NUL");
    EXPECT_THAT(why_not_argv({""}), HasSubstr("argv[0]: names no program"));
    const auto most = limits::process_argv_bytes_max;
    EXPECT_EQ(why_not_argv({"a", std::string(most - 3, 'x')}), "");
    EXPECT_THAT(why_not_argv({"a", std::string(most - 2, 'x')}), HasSubstr("argv: is 65537 bytes"));
}

std::vector<std::string> environment(const JsonObject& variables) {
    wire::FieldReader given(nothing);
    auto read = read_environment(given, &variables);
    EXPECT_FALSE(given.error()) << given.error()->message;
    return read;
}

std::string why_not_environment(const JsonObject& variables) {
    return refusal([&variables](auto& given) { read_environment(given, &variables); });
}

TEST(ProcessEnvironment, IsNamesWithValues) {
    EXPECT_THAT(environment({{"A", "1"}, {"npm_config_x-y", "a=b\n"}, {"EMPTY", ""}}),
                ElementsAre("A=1", "npm_config_x-y=a=b\n", "EMPTY="));
    EXPECT_THAT(environment({}), ElementsAre());
}

TEST(ProcessEnvironment, IsRefusedByNameAndWithoutSayingWhatItHolds) {
    const std::string secret = "s3cret";
    struct Case {
        JsonObject variables;
        std::string_view said;
    };
    for (const auto& [variables, said] :
         {Case{{{"A", "1"}, {"B=" + secret, "x"}}, "holds a name with = in it"},
          Case{{{"A", "1"}, {"", secret}}, "name"},
          Case{{{"A", "1"}, {secret + "\n", "x"}}, "holds a name with control characters"},
          Case{{{"A", "1"}, {"B", {secret}}}, "holds B, whose value must be a string"},
          Case{{{"A", "1"}, {"B", 7}}, "holds B, whose value must be a string"},
          Case{{{"A", "1"}, {"B", nullptr}}, "holds B, whose value must be a string"},
          Case{{{"A", "1"}, {"B", secret + std::string(1, '\0')}},
               "holds B, whose value must not hold NUL"},
          Case{{{"A", "1"}, {"KNELL_SOCKET", secret}}, "holds KNELL_SOCKET: names that begin"}}) {
        const auto why = why_not_environment(variables);
        EXPECT_THAT(why, HasSubstr("env: ")) << wire::to_text(variables);
        EXPECT_THAT(why, HasSubstr(said));
        EXPECT_THAT(why, Not(HasSubstr(secret)));
    }
}

TEST(ProcessEnvironment, HasBounds) {
    JsonObject many;
    for (std::size_t i = 0; i < limits::process_variables_max; ++i)
        many[fmt::format("V{}", i)] = "";
    EXPECT_EQ(why_not_environment(many), "");
    many["ONE_MORE"] = "";
    EXPECT_THAT(why_not_environment(many), HasSubstr("1025 variables"));
    const auto most = limits::process_environment_bytes_max;
    EXPECT_EQ(why_not_environment({{"A", std::string(most - 3, 'x')}}), "");
    EXPECT_THAT(why_not_environment({{"A", std::string(most - 2, 'x')}}), HasSubstr("bytes long"));
}

}  // namespace
}  // namespace knell::rpc
