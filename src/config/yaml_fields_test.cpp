#include "config/yaml_fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;
using std::chrono::days;

/// A map, read; what was wrong as lines of text.
class Fields : public testing::Test {
  protected:
    YamlFields& read(std::string_view text) {
        root_ = parse_yaml(text, "f").value();
        return fields_.emplace(root_, problems_);
    }
    std::vector<std::string> complaints() {
        std::vector<std::string> texts;
        for (const auto& problem : problems_.take()) texts.push_back(to_text(problem));
        return texts;
    }

    YamlNode root_;
    FileProblems problems_{"f"};
    std::optional<YamlFields> fields_;
};

TEST_F(Fields, GiveWhatIsThere) {
    auto& fields = read("a: text\nb: 5\nc: true\nd: [x, y]\ne: z\n");

    EXPECT_EQ(fields.text("a"), "text");
    EXPECT_EQ(fields.integer("b", 1, 9), 5);
    EXPECT_EQ(fields.boolean("c"), true);
    EXPECT_THAT(*fields.texts("d", 2), ElementsAre("x", "y"));
    EXPECT_THAT(*fields.texts("e", 2), ElementsAre("z"));
    EXPECT_THAT(complaints(), IsEmpty());
}

TEST_F(Fields, AKeyWithoutAValueIsMissing) {
    auto& fields = read("a:\nb: ~\n");

    EXPECT_FALSE(fields.text("a"));
    EXPECT_FALSE(fields.integer("b", 1, 9));
    EXPECT_FALSE(fields.boolean("c"));
    EXPECT_FALSE(fields.texts("d", 2));
    EXPECT_EQ(fields.list("e"), nullptr);
    EXPECT_THAT(complaints(), IsEmpty());
}

TEST_F(Fields, NumbersAreWholeAndWithinBounds) {
    auto& fields = read("a: ten\nb: 1.5\nc: '5'\nd: 5s\ne: 99999999999999999999\nf: [5]\ng: 0x5\n");

    for (const auto* name : {"a", "b", "c", "d", "e", "f", "g"}) {
        EXPECT_FALSE(fields.integer(name, 1, 9)) << name;
    }
    const auto found = complaints();
    ASSERT_EQ(found.size(), 7U);
    EXPECT_EQ(found[0],
              "f:1:1: a: must be a whole number from 1 to 9; write it without a unit, quotes "
              "and zeros before it");
}

TEST_F(Fields, ANumberOutOfBoundsIsToldWhichWay) {
    auto& fields = read("a: 0\nb: 10\n");
    EXPECT_FALSE(fields.integer("a", 1, 9));
    EXPECT_FALSE(fields.integer("b", 1, 9));

    EXPECT_THAT(complaints(),
                ElementsAre("f:1:1: a: is less than 1; write a whole number from 1 to 9",
                            "f:2:1: b: is more than 9; write a whole number from 1 to 9"));
}

TEST_F(Fields, DurationsHaveAUnitOrCountTheOneOfTheKey) {
    auto& fields = read("a: 15\nb: 2m\nc: '90s'\nd: 7\ne: 7d\n");

    EXPECT_EQ(fields.duration("a", 1s, 1h, 1s), 15s);
    EXPECT_EQ(fields.duration("b", 1s, 1h, 1s), 2min);
    EXPECT_EQ(fields.duration("c", 1s, 1h, 1s), 90s);
    for (const auto* name : {"d", "e"}) {
        EXPECT_EQ(fields.duration(name, days{1}, days{9}, days{1}), days{7});
    }
    EXPECT_THAT(complaints(), IsEmpty());
}

TEST_F(Fields, DurationsAreWholeAndWithinBounds) {
    auto& fields = read("a: 2h\nb: '15'\nc: 1.5m\nd: [1]\ne: 36h\nf: 10\n");

    for (const auto* name : {"a", "b", "c", "d"}) {
        EXPECT_FALSE(fields.duration(name, 1s, 1h, 1s)) << name;
    }
    for (const auto* name : {"e", "f"}) {
        EXPECT_FALSE(fields.duration(name, days{1}, days{9}, days{1})) << name;
    }
    const auto found = complaints();
    ASSERT_EQ(found.size(), 6U);
    EXPECT_EQ(found[0],
              "f:1:1: a: must be from 1s to 1h; write a whole number of seconds, or one with a "
              "unit, as in 90s, 2m, 12h or 1d");
    EXPECT_EQ(found[4], "f:5:1: e: must be whole days from 1 to 9; write them as in 30 or 30d");
}

TEST_F(Fields, EverythingWrongIsToldAtOnceInOrder) {
    auto& fields = read("a: [x]\nb: yes\nc:\n  - ok\n  - [deep]\nd: {x: y}\ne: \"a\\tb\"\n");

    EXPECT_FALSE(fields.text("e"));
    EXPECT_EQ(fields.list("d"), nullptr);
    EXPECT_FALSE(fields.texts("c", 5));
    EXPECT_FALSE(fields.boolean("b"));
    EXPECT_FALSE(fields.text("a"));
    EXPECT_THAT(complaints(),
                ElementsAre("f:1:1: a: must be text; put it in quotes",
                            "f:2:1: b: must be true or false; write one of them, without "
                            "quotes",
                            "f:5:5: c: must be text; put it in quotes",
                            "f:6:1: d: must be a list; begin each item with a dash",
                            "f:7:1: e: must be one line without control characters; write "
                            "it on one"));
}

TEST_F(Fields, AnUnknownKeyIsAnsweredWithTheNearest) {
    auto& fields = read("timout: 5\nheaders: x\nname: y\n");
    fields.text("name");
    fields.integer("timeout", 1, 9);

    fields.refuse_other_keys();

    EXPECT_THAT(complaints(),
                ElementsAre("f:1:1: timout: there is no such key; did you mean \"timeout\"?",
                            "f:2:1: headers: there is no such key; write one of: name, timeout"));
}

TEST_F(Fields, APathSaysInWhichSection) {
    const auto root = parse_yaml("timout: 5\n", "f").value();
    YamlFields fields(root, problems_, "webhooks[2].");
    fields.refuse_other_keys([](std::string_view) { return "http: timeout"; });

    EXPECT_THAT(complaints(), ElementsAre("f:1:1: webhooks[2].timout: there is no such key; did "
                                          "you mean \"http: timeout\"?"));
}

TEST_F(Fields, ARefusedKeySaysWhyAndOnlyOnce) {
    auto& fields = read("a: x\nb: 2\n");
    fields.text("a");
    fields.refuse_key("b", "belongs elsewhere");
    fields.refuse_key("c", "belongs elsewhere");

    fields.refuse_other_keys();

    EXPECT_THAT(complaints(), ElementsAre("f:2:1: b: belongs elsewhere"));
}

TEST_F(Fields, AKeyThatStandsTwiceIsAProblem) {
    read("a: 1\nb: 2\na: 3\n");

    EXPECT_THAT(complaints(),
                ElementsAre("f:3:1: a: is written twice, first in line 1; remove one of both"));
}

TEST_F(Fields, WhatIsNoMapHasNoKeys) {
    auto& fields = read("- a\n- b\n");
    EXPECT_FALSE(fields.text("a"));
    fields.refuse_other_keys();

    EXPECT_THAT(complaints(),
                ElementsAre("f:1:1: must be keys with values; write them as `key: value`"));
}

TEST_F(Fields, AListIsBounded) {
    auto& fields = read("a: [1, 2, 3]\n");

    EXPECT_FALSE(fields.texts("a", 2));
    EXPECT_THAT(complaints(),
                ElementsAre("f:1:1: a: holds 3 items, and at most 2 are allowed; remove some"));
}

}  // namespace
}  // namespace knell
