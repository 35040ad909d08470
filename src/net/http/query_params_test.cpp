#include "net/http/query_params.hpp"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::net::http {
namespace {

using ::testing::HasSubstr;
using wire::Field;
using wire::FieldType;

constexpr std::array rows{
    Field{.name = "limit", .type = FieldType::integer, .about = ""},
    Field{.name = "all", .type = FieldType::boolean, .about = ""},
    Field{.name = "key", .type = FieldType::text, .about = ""},
    Field{.name = "status", .type = FieldType::choice, .about = ""},
    Field{.name = "types", .type = FieldType::array, .items = FieldType::choice, .about = ""},
    Field{.name = "numbers", .type = FieldType::array, .items = FieldType::integer, .about = ""},
    Field{.name = "meta", .type = FieldType::object, .about = ""},
};

using Query = std::vector<std::pair<std::string, std::string>>;

std::string params(const Query& query) {
    const auto made = params_of_query(query, rows);
    return made ? wire::to_text(*made) : made.error().field + "! " + made.error().message;
}

TEST(QueryParams, AreTypedByTheRows) {
    EXPECT_EQ(params({{"limit", "5"}, {"all", "true"}, {"key", "5"}, {"status", "idle"}}),
              R"({"limit":5,"all":true,"key":"5","status":"idle"})");
    EXPECT_EQ(params({{"limit", "-1"}, {"all", "0"}}), R"({"limit":-1,"all":false})");
    EXPECT_EQ(params({}), "{}");
    EXPECT_EQ(params({{"key", ""}}), R"({"key":""})");
}

TEST(QueryParams, MayBeLists) {
    EXPECT_EQ(params({{"types", "session:start,session:end"}, {"types", "notice"}}),
              R"({"types":["session:start","session:end","notice"]})");
    EXPECT_EQ(params({{"numbers", "1,2"}}), R"({"numbers":[1,2]})");
    EXPECT_EQ(params({{"types", ""}}), R"({"types":[]})");
}

TEST(QueryParams, ThatAreNoSuchValueAreRefusedByName) {
    for (const auto* text : {"", "five", "5x", "1.5", " 5", "99999999999999999999"}) {
        EXPECT_EQ(params({{"limit", text}}), "limit! limit: must be a whole number") << text;
    }
    EXPECT_EQ(params({{"all", "yes"}}), "all! all: must be true or false");
    EXPECT_THAT(params({{"numbers", "1,x"}}), HasSubstr("numbers! "));
    EXPECT_THAT(params({{"meta", "{}"}}), HasSubstr("POST /v1/rpc"));
    EXPECT_EQ(params({{"key", "a"}, {"key", "b"}}), "key! key: is given twice");
}

TEST(QueryParams, ThatTheMethodDoesNotHaveAreRefused) {
    EXPECT_THAT(params({{"limt", "5"}}), HasSubstr("known here: limit, all, key"));
    EXPECT_THAT(params_of_query({{"a", "b"}}, {}).error().message, HasSubstr("none is known here"));
    EXPECT_THAT(params({{"", "idle"}}), ::testing::StartsWith("query! "));
}

}  // namespace
}  // namespace knell::net::http
