#include "foreign/hermes/config_scalar.hpp"

#include <gtest/gtest.h>

namespace knell::hermes {
namespace {

Scalar scalar(std::string_view text) {
    const auto root = parse_yaml("a: " + std::string(text) + "\n", "f");
    EXPECT_TRUE(root) << text;
    return root ? hermes_scalar(root->items.front()) : Scalar{};
}

TEST(HermesScalar, IsWhatYaml11SaysItIs) {
    const struct {
        const char* text;
        ScalarKind kind;
    } cases[] = {
        {"", ScalarKind::nothing},      {"~", ScalarKind::nothing},
        {"off", ScalarKind::boolean},   {"Yes", ScalarKind::boolean},
        {"'off'", ScalarKind::text},    {"none", ScalarKind::text},
        {"5", ScalarKind::integer},     {"-5", ScalarKind::integer},
        {"1_000", ScalarKind::integer}, {"0x1f", ScalarKind::integer},
        {"0b11", ScalarKind::integer},  {"\"5\"", ScalarKind::text},
        {"0.5", ScalarKind::real},      {"-.5", ScalarKind::real},
        {"5 days", ScalarKind::text},   {"1.2.3", ScalarKind::text},
        {"face", ScalarKind::text},     {"[1]", ScalarKind::list},
        {"{b: 1}", ScalarKind::map},    {"09", ScalarKind::text},
        {".inf", ScalarKind::real},     {"12345678901234567890", ScalarKind::integer},
    };
    for (const auto& [text, kind] : cases) EXPECT_EQ(scalar(text).kind, kind) << text;
}

TEST(HermesScalar, HasItsValue) {
    EXPECT_EQ(scalar("010").number, 8);
    EXPECT_EQ(scalar("1:30").number, 90);
    EXPECT_EQ(scalar("-3").number, -3);
    EXPECT_EQ(scalar("2.5").number, 2.5);
    EXPECT_TRUE(scalar("on").truth);
    EXPECT_FALSE(scalar("No").truth);
}

}  // namespace
}  // namespace knell::hermes
