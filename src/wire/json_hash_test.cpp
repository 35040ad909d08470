#include "wire/json_hash.hpp"

#include <set>

#include <gtest/gtest.h>

namespace knell::wire {
namespace {

std::uint64_t hash(std::string_view text) {
    return hash_of(*parse_json(text));
}

TEST(JsonHash, IsTheSameForWhatSaysTheSame) {
    EXPECT_EQ(hash(R"({"a":1,"b":[2,{"c":"d","e":null}]})"),
              hash(R"({ "b" : [2, {"c": "\u0064"}], "a": 1.0 })"));
    EXPECT_EQ(hash("-3"), hash("-3.0"));
    EXPECT_EQ(hash("{}"), hash(R"({"a":null})"));
}

TEST(JsonHash, DiffersForWhatDiffers) {
    std::set<std::uint64_t> all;
    const auto values = {"null",
                         "true",
                         "false",
                         "0",
                         "1",
                         "-1",
                         "0.5",
                         "1e300",
                         "18446744073709551615",
                         R"("")",
                         R"("0")",
                         R"("a")",
                         "[]",
                         "[1]",
                         "[1,1]",
                         "[[1],1]",
                         "[1,[1]]",
                         "{}",
                         R"({"a":1})",
                         R"({"a":2})",
                         R"({"b":1})",
                         R"({"a":1,"b":1})",
                         R"({"a":{"b":1}})",
                         R"(["a","b"])",
                         R"(["b","a"])",
                         R"(["ab"])"};
    for (const auto* value : values) all.insert(hash(value));

    EXPECT_EQ(all.size(), values.size());
}

}  // namespace
}  // namespace knell::wire
