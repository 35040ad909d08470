#include "wire/field_reader.hpp"

#include <gtest/gtest.h>

#include "wire/given.hpp"

namespace knell::wire {
namespace {

constexpr std::array inner_rows{
    Field{.name = "pid", .type = FieldType::integer, .required = true, .min = 1, .max = 9},
};
constexpr std::array rows{
    Field{.name = "word", .type = FieldType::word, .required = true},
    Field{.name = "text", .type = FieldType::text, .max = 3},
    Field{.name = "id", .type = FieldType::id},
    Field{.name = "count", .type = FieldType::integer, .min = 2, .max = 4, .standard = 3},
    Field{.name = "maybe", .type = FieldType::integer, .max = 4},
    Field{.name = "flag", .type = FieldType::boolean, .standard = 1},
    Field{.name = "status", .type = FieldType::choice, .choices = names_of<Status>},
    Field{.name = "own", .type = FieldType::object, .max = 10},
    Field{.name = "inner", .type = FieldType::object, .fields = inner_rows},
    Field{.name = "many",
          .type = FieldType::array,
          .required = true,
          .min = 1,
          .max = 2,
          .fields = inner_rows,
          .unit = "thing"},
};

class FieldReading : public ::testing::Test {
  protected:
    /// What is wrong with `text` as a whole, or "".
    static std::string complaint(std::string_view text) {
        const auto value = parse_json(text);
        Given<rows> given(value->as_object());
        given.get<"word">();
        given.get<"text">();
        given.get<"id">();
        given.get<"count">();
        given.get<"maybe">();
        given.get<"flag">();
        given.choice<Status, "status">();
        given.get<"own">();
        if (auto inner = given.object<"inner", inner_rows>()) inner->get<"pid">();
        if (const auto* many = given.array<"many">()) {
            given.each<"many", inner_rows>(*many, [](auto& one) { one.template get<"pid">(); });
        }
        return given.error() ? given.error()->message : "";
    }
};

TEST_F(FieldReading, WhatIsMissingIsTheDefaultOfItsRow) {
    const JsonObject nothing;
    Given<rows> given(nothing);

    EXPECT_EQ((given.get_as<std::size_t, "count">()), 3U);
    EXPECT_EQ(given.get<"maybe">(), std::nullopt);
    EXPECT_TRUE(given.get<"flag">());
    EXPECT_EQ((given.choice<Status, "status">()), std::nullopt);
    EXPECT_EQ(given.get<"text">(), "");
    EXPECT_EQ(given.get<"own">(), "");
    EXPECT_FALSE(given.error());
}

TEST_F(FieldReading, WhatIsWrongNamesItsFieldAndTheBoundOfItsRow) {
    const std::string fine = R"("word":"a","many":[{"pid":1}])";
    EXPECT_EQ(complaint("{" + fine + "}"), "");
    EXPECT_EQ(complaint(R"({"many":[{"pid":1}]})"), "word: is required");
    EXPECT_EQ(complaint(R"({"word":null})"), "word: is required");
    EXPECT_EQ(complaint(R"({"word":"a b"})"), "word: may hold only letters, digits and ._-");
    EXPECT_EQ(complaint("{" + fine + R"(,"text":"abcd"})"),
              "text: is 4 bytes long; at most 3 are allowed");
    EXPECT_EQ(complaint("{" + fine + R"(,"text":"a\n"})"),
              "text: must not hold control characters");
    EXPECT_EQ(complaint("{" + fine + R"(,"text":1})"), "text: must be a string");
    EXPECT_EQ(complaint("{" + fine + R"(,"count":5})"), "count: must be between 2 and 4");
    EXPECT_EQ(complaint("{" + fine + R"(,"count":2.5})"), "count: must be a whole number");
    EXPECT_EQ(complaint("{" + fine + R"(,"flag":"yes"})"), "flag: must be true or false");
    EXPECT_EQ(complaint("{" + fine + R"(,"status":"asleep"})"),
              "status: is not one of running, attached, background, idle, detached, stalled, "
              "unknown, ended");
    EXPECT_EQ(complaint("{" + fine + R"(,"own":{"a":"12345"}})"),
              "own: is 13 bytes as JSON; at most 10 are allowed");
    EXPECT_EQ(complaint("{" + fine + R"(,"own":[]})"), "own: must be an object");
}

TEST_F(FieldReading, WhatIsWrongInsideIsNamedByItsPath) {
    EXPECT_EQ(complaint(R"({"word":"a","inner":{"pid":0}})"), "inner.pid: must be between 1 and 9");
    EXPECT_EQ(complaint(R"({"word":"a","many":[{"pid":1},{}]})"), "many[1].pid: is required");
    EXPECT_EQ(complaint(R"({"word":"a","many":[1]})"), "many[0]: must be an object");
}

TEST_F(FieldReading, AnArrayHasAsManyAsItsRowAllows) {
    EXPECT_EQ(complaint(R"({"word":"a"})"), "many: must be an array with at least one thing");
    EXPECT_EQ(complaint(R"({"word":"a","many":[]})"),
              "many: must be an array with at least one thing");
    EXPECT_EQ(complaint(R"({"word":"a","many":{}})"), "many: must be an array");
    EXPECT_EQ(complaint(R"({"word":"a","many":[{},{},{}]})"),
              "many: holds 3 things; at most 2 are allowed in a call");
}

TEST_F(FieldReading, AnEmptyTextIsRefusedUnlessItsRowAllowsIt) {
    EXPECT_EQ(complaint(R"({"word":"","many":[{"pid":1}]})"), "word: must not be empty");
    EXPECT_EQ(complaint(R"({"word":"a","text":"","many":[{"pid":1}]})"),
              "text: must not be empty; leave it out instead");
    EXPECT_EQ(complaint(R"({"word":"a","status":"","many":[{"pid":1}]})"),
              "status: must not be empty; leave it out instead");
    EXPECT_EQ(complaint(R"({"word":"a","text":null,"many":[{"pid":1}]})"), "");
}

TEST_F(FieldReading, TheFirstThingWrongIsTold) {
    EXPECT_EQ(complaint(R"({"word":"a b","count":9,"inner":{"pid":0}})"),
              "word: may hold only letters, digits and ._-");
}

TEST_F(FieldReading, WhatIsAskedForIsNoted) {
    const JsonObject nothing;
    FieldTrace trace;
    Given<rows> given(nothing, &trace);
    given.get<"text">();
    static_cast<void>(given.has<"maybe">());

    EXPECT_EQ(trace, (FieldTrace{&rows[1], &rows[4]}));
}

}  // namespace
}  // namespace knell::wire
