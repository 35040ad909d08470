#include "rpc/activity_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace knell::rpc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Sprite sprite(const std::string& id, std::string_view status = "idle") {
    return make_sprite(id, {{"id", id}, {"status", status}});
}

/// "a idle" for each, then "-c" for what is gone; "all:" before it where it is the whole picture.
std::vector<std::string> told(const ActivityBook& book, std::string_view place) {
    const auto changes = book.since(place);
    std::vector<std::string> words;
    if (changes.is_whole) words.emplace_back("all:");
    for (const auto* facts : changes.sprites) {
        words.push_back(std::string(wire::text_at(*facts, "id")) + " " +
                        std::string(wire::text_at(*facts, "status")));
    }
    for (const auto gone : changes.gone) words.push_back("-" + std::string(gone));
    return words;
}

TEST(ActivityBook, TellsWhatIsDifferent) {
    ActivityBook book("x");
    book.update({sprite("a"), sprite("b"), sprite("c")});
    const auto first = book.place();
    EXPECT_THAT(told(book, ""), ElementsAre("all:", "a idle", "b idle", "c idle"));
    EXPECT_THAT(told(book, first), IsEmpty());

    book.update({sprite("d"), sprite("a"), sprite("b", "running")});

    EXPECT_THAT(told(book, first), ElementsAre("d idle", "b running", "-c"));
    EXPECT_THAT(told(book, book.place()), IsEmpty());
    EXPECT_THAT(told(book, ""), ElementsAre("all:", "d idle", "a idle", "b running"));
}

TEST(ActivityBook, KeepsItsPlaceWhileNothingChanges) {
    ActivityBook book("x");
    book.update({sprite("a"), sprite("b")});
    const auto place = book.place();
    const auto hash = book.since("").hash;

    book.update({sprite("a"), sprite("b")});

    EXPECT_EQ(book.place(), place);
    EXPECT_EQ(book.since("").hash, hash);
    book.update({sprite("a"), sprite("b", "ended")});
    EXPECT_NE(book.place(), place);
    EXPECT_NE(book.since("").hash, hash);
}

TEST(ActivityBook, WhatComesBackIsNotGone) {
    ActivityBook book("x");
    book.update({sprite("a"), sprite("b")});
    const auto place = book.place();
    book.update({sprite("a")});
    book.update({sprite("a"), sprite("b")});

    EXPECT_THAT(told(book, place), ElementsAre("b idle"));
}

TEST(ActivityBook, APlaceThatIsNotItsOwnGivesTheWholePicture) {
    ActivityBook book("x");
    book.update({sprite("a")});
    for (const auto* place : {"y-2", "x-", "x-2x", "x-99", "x", "-2", "x--2"}) {
        EXPECT_THAT(told(book, place), ElementsAre("all:", "a idle")) << place;
    }
    EXPECT_THAT(told(book, "x-1"), ElementsAre("a idle")) << "there was nothing then";
}

TEST(ActivityBook, WhoWasAwayTooLongGetsTheWholePicture) {
    ActivityBook book("x");
    std::vector<Sprite> many;
    for (std::size_t i = 0; i <= limits::space_gone_max; ++i) {
        many.push_back(sprite("s" + std::to_string(i)));
    }
    book.update(std::move(many));
    const auto full = book.place();
    book.update({sprite("a")});
    const auto later = book.place();
    book.update({sprite("b")});

    EXPECT_THAT(told(book, full), ElementsAre("all:", "b idle"));
    EXPECT_THAT(told(book, later), ElementsAre("b idle", "-a"));
}

TEST(ActivityBook, AChangeAndTheWholeOfTheSameHaveHashesOfTheirOwn) {
    ActivityBook book("x");
    const auto empty = book.place();
    book.update({sprite("a")});
    EXPECT_NE(book.since(empty).hash, book.since("").hash);
}

}  // namespace
}  // namespace knell::rpc
