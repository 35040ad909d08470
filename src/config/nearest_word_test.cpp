#include "config/nearest_word.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

const std::vector<std::string> known{"url", "events", "timeout", "secret_file", "secret_env"};

TEST(NearestWord, ForgivesTwoSlips) {
    EXPECT_EQ(nearest_word("timout", known), "timeout");
    EXPECT_EQ(nearest_word("tiemout", known), "timeout");
    EXPECT_EQ(nearest_word("event", known), "events");
    EXPECT_EQ(nearest_word("secret-file", known), "secret_file");
}

TEST(NearestWord, TwoLettersInTheWrongOrderAreOneSlip) {
    EXPECT_EQ(nearest_word("shwo", {"show", "stop"}), "show");
    EXPECT_EQ(nearest_word("hsow", {"show", "stop"}), "show");
    EXPECT_EQ(nearest_word("hswo", {"show", "stop"}), "");
}

TEST(NearestWord, TakesTheNearerOfTwo) {
    EXPECT_EQ(nearest_word("secret_fil", known), "secret_file");
    EXPECT_EQ(nearest_word("secret_enf", known), "secret_env");
}

TEST(NearestWord, DoesNotGuess) {
    EXPECT_EQ(nearest_word("", known), "");
    EXPECT_EQ(nearest_word("uxx", known), "");
    EXPECT_EQ(nearest_word("headers", known), "");
    EXPECT_EQ(nearest_word(std::string(100'000, 'e'), known), "");
    EXPECT_EQ(nearest_word("url", {}), "");
}

}  // namespace
}  // namespace knell
