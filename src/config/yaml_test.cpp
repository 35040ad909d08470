#include "config/yaml.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace knell {
namespace {

using Kind = YamlNode::Kind;

YamlNode parsed(std::string_view text) {
    auto root = parse_yaml(text, "f.yaml");
    EXPECT_TRUE(root) << to_text(root.error());
    return root ? std::move(*root) : YamlNode{};
}

std::string refusal(std::string_view text) {
    const auto root = parse_yaml(text, "f.yaml");
    EXPECT_FALSE(root);
    return root ? "" : to_text(root.error());
}

std::string repeated(std::string_view part, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text += part;
    return text;
}

TEST(Yaml, IsATreeThatKnowsItsPlaces) {
    const auto root = parsed("# a remark\na: 1\nb:\n  - x\n  - c: 'y'\n");

    ASSERT_EQ(root.kind, Kind::map);
    ASSERT_EQ(root.items.size(), 2U);
    EXPECT_EQ(root.items[0].key, "a");
    EXPECT_EQ(root.items[0].text, "1");
    EXPECT_EQ(root.items[0].place.line, 2);
    EXPECT_FALSE(root.items[0].is_quoted);
    const auto& list = root.items[1];
    ASSERT_EQ(list.kind, Kind::list);
    EXPECT_EQ(list.place, (TextPlace{3, 1}));
    ASSERT_EQ(list.items.size(), 2U);
    EXPECT_EQ(list.items[0].place, (TextPlace{4, 5}));
    ASSERT_EQ(list.items[1].kind, Kind::map);
    EXPECT_EQ(list.items[1].items[0].text, "y");
    EXPECT_TRUE(list.items[1].items[0].is_quoted);
}

TEST(Yaml, NothingIsAnAnswer) {
    EXPECT_EQ(parsed("").kind, Kind::nothing);
    EXPECT_EQ(parsed("# only a remark\n").kind, Kind::nothing);
    EXPECT_EQ(parsed("a:\n").items[0].kind, Kind::nothing);
}

TEST(Yaml, AMistakeIsToldWithItsPlace) {
    EXPECT_TRUE(refusal("a: 1\nb: [1, 2\n").starts_with("f.yaml:")) << refusal("b: [1, 2\n");
    EXPECT_TRUE(refusal("a: 1\n  b: 2\n").starts_with("f.yaml:2:4: is not YAML: "));
}

TEST(Yaml, AnOpenQuoteSwallowsNothing) {
    for (const auto* text : {"a: 'open\nb: 2\n", "a: \"open\nb: 2\n", "'", "\"", "a: 'it''s"}) {
        EXPECT_TRUE(
            refusal(text).ends_with("a quote that opens here or above is never closed; close it"));
    }
    EXPECT_EQ(parsed("a: 'it''s'").items[0].text, "it's");
}

TEST(Yaml, WhatNoConfigNeedsIsRefused) {
    EXPECT_EQ(refusal("a: &x 1\nb: *x\n"),
              "f.yaml:2:4: aliases (*name) are not read; write the value out");
    EXPECT_EQ(refusal("? [a]\n: b\n"),
              "f.yaml:1:3: a key must be text; write a name, and close every bracket");
    EXPECT_EQ(refusal("a: 1\n~: 2\n"), "f.yaml:2:1: a key is missing before the colon; write one");
    EXPECT_EQ(refusal("a: 1\n---\nb: 2\n"),
              "f.yaml:2:1: a second document begins here; remove it, or correct the indentation");
}

TEST(Yaml, OnlyUtf8IsText) {
    EXPECT_EQ(refusal("a: \xff\n"), "f.yaml:1:1: is not UTF-8 text; save it as UTF-8");
    EXPECT_EQ(refusal(std::string_view("a\0b", 3)),
              "f.yaml:1:1: is not UTF-8 text; save it as UTF-8");
}

TEST(Yaml, HasBounds) {
    EXPECT_TRUE(refusal(repeated("a", limits::config_bytes_max + 1)).contains("is larger than"));
    EXPECT_TRUE(refusal(repeated("- a\n", limits::yaml_nodes_max + 1)).contains("more than"));
    const auto depth = limits::yaml_depth_max;
    EXPECT_EQ(parsed(repeated("[", depth) + repeated("]", depth)).kind, Kind::list);
    EXPECT_TRUE(refusal(repeated("[", depth + 1) + repeated("]", depth + 1)).contains("nested"));
}

TEST(Yaml, NestingCannotExhaustTheStack) {
    for (const auto* part : {"[", "{", "- ", "? ", "[{", "a: {", "!x ", "&a [", "\"a\": {"}) {
        (void)parse_yaml(repeated(part, 10'000), "f.yaml");
    }
}

}  // namespace
}  // namespace knell
