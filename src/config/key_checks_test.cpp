#include "config/key_checks.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

TEST(KeyChecks, ASecretFileIsNotTheSecret) {
    for (const auto* text : {"ops.secret", "~/ops", "/run/secrets/ops", "a b"}) {
        EXPECT_FALSE(why_not_a_secret_file(text)) << text;
    }
    for (const auto* text : {"", "whsec_abc"}) EXPECT_TRUE(why_not_a_secret_file(text)) << text;
}

TEST(KeyChecks, ASecretVariableIsAName) {
    for (const auto* text : {"S", "_s", "OPS_SECRET_2"}) {
        EXPECT_FALSE(why_not_a_secret_variable(text)) << text;
    }
    for (const auto* text : {"", "2S", "a b", "a-b", "$S", "S=", "whsec_abc", "\u00e9"}) {
        EXPECT_TRUE(why_not_a_secret_variable(text)) << text;
    }
}

TEST(KeyChecks, NeverQuoteWhatTheyRefuse) {
    EXPECT_FALSE(why_not_a_secret_file("whsec_abc")->contains("abc"));
    EXPECT_FALSE(why_not_a_secret_variable("whsec_abc")->contains("abc"));
}

}  // namespace
}  // namespace knell
