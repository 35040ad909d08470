#include "core/subscriber_name.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

TEST(SubscriberName, IsAWordThatFitsInACommand) {
    for (const auto* good : {"ops", "notify-team", "a.b_c-1", "X"}) {
        EXPECT_FALSE(why_not_a_subscriber_name(good)) << good;
    }
    for (const auto& bad :
         {std::string(), std::string("my hook"), std::string("a/b"), std::string("a\nb"),
          std::string("ü"), std::string(65, 'a'), std::string("a:b")}) {
        EXPECT_TRUE(why_not_a_subscriber_name(bad)) << bad;
    }
}

}  // namespace
}  // namespace knell
