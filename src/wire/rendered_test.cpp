#include "wire/rendered.hpp"

#include <gtest/gtest.h>

namespace knell::wire {
namespace {

TEST(Rendered, IsTheSameTextAndTheSameValueWhicheverItWasMadeOf) {
    const std::string text = R"({"a":[1,"x"],"b":null})";
    const auto value = *parse_json(text);

    EXPECT_EQ(Rendered(value).text(), text);
    EXPECT_EQ(Rendered::from_text(text).text(), text);
    EXPECT_EQ(Json(Rendered(value)), value);
    EXPECT_EQ(Json(Rendered::from_text(text)), value);
}

TEST(Rendered, TakesTheResultOfAMethodAsItIs) {
    const auto answered = [](Result<Rendered> result) {
        return result ? std::move(*result).text() : result.error().message;
    };
    EXPECT_EQ(answered(JsonObject{{"after", 3}}), R"({"after":3})");
    EXPECT_EQ(answered(Result<Json>(Json(true))), "true");
    EXPECT_EQ(answered(fail(ErrorCode::not_found, "no such session")), "no such session");
}

}  // namespace
}  // namespace knell::wire
