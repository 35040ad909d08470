#include "rpc/field_schema.hpp"

#include <array>

#include <gtest/gtest.h>

namespace knell::rpc {
namespace {

using wire::Field;
using wire::FieldType;

TEST(FieldSchema, SaysWhatARowSays) {
    static constexpr std::array<std::string_view, 3> words{"", "one", "two"};
    const auto call = [](const Field& field) {
        return wire::to_text(schema_of(field, Direction::call));
    };
    EXPECT_EQ(call({.name = "limit",
                    .type = FieldType::integer,
                    .min = 1,
                    .max = 1000,
                    .standard = 50,
                    .about = "how many"}),
              R"({"type":"integer","minimum":1,"maximum":1000,"default":50,)"
              R"("description":"how many"})");
    EXPECT_EQ(call({.name = "after",
                    .type = FieldType::integer,
                    .max = wire::unbounded,
                    .about = "behind"}),
              R"({"type":"integer","minimum":0,"description":"behind"})");
    EXPECT_EQ(call({.name = "w", .type = FieldType::word, .required = true, .about = "a word"}),
              R"({"type":"string","pattern":"^[A-Za-z0-9._-]*$","maxLength":64,"minLength":1,)"
              R"("description":"a word"})");
    EXPECT_EQ(call({.name = "c",
                    .type = FieldType::choice,
                    .standard = 1,
                    .choices = words,
                    .about = "which"}),
              R"({"type":"string","enum":["one","two"],"default":"one","description":"which"})");
    EXPECT_EQ(call({.name = "list",
                    .type = FieldType::array,
                    .min = 1,
                    .max = 9,
                    .choices = words,
                    .items = FieldType::choice,
                    .about = "some"}),
              R"({"type":"array","items":{"type":"string","enum":["one","two"]},"minItems":1,)"
              R"("maxItems":9,"description":"some"})");
}

TEST(FieldSchema, OfAnAnswerHasNoBoundsAndSaysWhen) {
    static constexpr std::array inner{
        Field{.name = "at", .type = FieldType::time, .required = true, .about = "when"}};
    const Field field{.name = "it",
                      .type = FieldType::object,
                      .fields = inner,
                      .when = "there is one",
                      .about = "a thing"};
    EXPECT_EQ(wire::to_text(schema_of(field, Direction::answer)),
              R"json({"type":"object","properties":{"at":{"type":"string",)json"
              R"json("format":"date-time","description":"when"}},"required":["at"],)json"
              R"json("description":"a thing (when: there is one)"})json");
    const Field shared{
        .name = "s", .type = FieldType::object, .object = "session", .about = "a session"};
    EXPECT_EQ(wire::to_text(schema_of(shared, Direction::answer)),
              R"({"$ref":"#/components/schemas/session","description":"a session"})");
    const Field any{.name = "a", .type = FieldType::any, .required = true, .about = "whatever"};
    EXPECT_EQ(wire::to_text(schema_of(any, Direction::answer)), R"({"description":"whatever"})");
}

}  // namespace
}  // namespace knell::rpc
