#include "cli/table.hpp"

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

Table small_table() {
    Table table({{.title = "ID"},
                 {.title = "TITLE", .shrink_to = 6},
                 {.title = "AGE", .align = Align::right, .drop_order = 1}});
    table.add({{"one", Tone::good}, {"a long title"}, {"3m ago"}});
    table.add({{"three"}, {"日本"}, {""}});
    return table;
}

TEST(Table, InAFileItIsAlignedAndWhole) {
    EXPECT_EQ(small_table().render({}),
              "ID     TITLE            AGE\n"
              "one    a long title  3m ago\n"
              "three  日本               -\n");
}

TEST(Table, OnANarrowTerminalTitlesAreCutFirst) {
    const Terminal terminal{.interactive = true, .colour = false, .width = 23};

    EXPECT_EQ(small_table().render(terminal),
              "ID     TITLE        AGE\n"
              "one    a long …  3m ago\n"
              "three  日本           -\n");
}

TEST(Table, ThenColumnsAreLeftOut) {
    const Terminal terminal{.interactive = true, .colour = false, .width = 20};

    EXPECT_EQ(small_table().render(terminal),
              "ID     TITLE\n"
              "one    a long title\n"
              "three  日本\n");
}

TEST(Table, WhatMayNotBeCutStaysWholeHoweverNarrow) {
    const Terminal terminal{.interactive = true, .colour = false, .width = 3};

    EXPECT_EQ(small_table().render(terminal),
              "ID\n"
              "  TITLE\n"
              "one\n"
              "  a lon…\n"
              "three\n"
              "  日本\n");
}

TEST(Table, OfSomeColumnsTheEndIsKept) {
    Table table({{.title = "DIR", .shrink_to = 5, .keep_end = true}, {.title = "WHAT"}});
    table.add({{"/home/me/proj"}, {"abc"}});

    EXPECT_EQ(table.render({.interactive = true, .colour = false, .width = 12}),
              "DIR     WHAT\n"
              "…/proj  abc\n");
}

TEST(Table, KnowsWhetherEachRowIsALine) {
    EXPECT_TRUE(small_table().fits_on_lines({}));
    EXPECT_TRUE(small_table().fits_on_lines({.interactive = true, .width = 13}));
    EXPECT_FALSE(small_table().fits_on_lines({.interactive = true, .width = 12}));
}

TEST(Table, ColoursDoNotCountAsWidth) {
    const Terminal terminal{.interactive = true, .colour = true, .width = 80};
    Table table({{.title = "A"}, {.title = "B"}});
    table.add({{"x", Tone::bad}, {"y"}});

    EXPECT_EQ(table.render(terminal),
              "\x1b[1mA\x1b[0m  \x1b[1mB\x1b[0m\n"
              "\x1b[31mx\x1b[0m  y\n");
}

TEST(Table, ACellCannotBreakItsRow) {
    Table table({{.title = "A"}});
    table.add({{"x\n\x1b[2J"}});

    EXPECT_EQ(table.render({}), "A\nx ?[2J\n");
}

TEST(RenderFacts, ValuesAreAlignedAndEmptyOnesLeftOut) {
    EXPECT_EQ(render_facts({{"id", "x"}, {"nothing at all", ""}, {"status", "idle"}}, {}),
              "id      x\n"
              "status  idle\n");
}

TEST(Table, TooNarrowForWhatIsNeverCutPutsThatOnALineOfItsOwn) {
    Table table({{.title = "ID"},
                 {.title = "STATUS"},
                 {.title = "TITLE", .shrink_to = 5},
                 {.title = "AGE", .drop_order = 1}});
    table.add({{"01a1e3da-0778-73a5"}, {"ended"}, {"a long title"}, {"2d"}});
    table.add({{"b"}, {"idle"}, {"short"}, {"1s"}});

    EXPECT_EQ(table.render({.interactive = true, .colour = false, .width = 22}),
              "ID\n"
              "  STATUS  TITLE    AGE\n"
              "01a1e3da-0778-73a5\n"
              "  ended   a long…  2d\n"
              "b\n"
              "  idle    short    1s\n");
}

}  // namespace
}  // namespace knell::cli
