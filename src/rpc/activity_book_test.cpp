#include "rpc/activity_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace knell::rpc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Each id has a place of its own; "d" stands before "a".
Sprite sprite(const std::string& id, std::string_view status = "idle", std::int64_t rank = 0) {
    const auto first = id == "d" ? 0 : id.front();
    return make_sprite(id, {SpritePlace::Part::open, rank == 0 ? first : rank},
                       {{"id", id}, {"status", status}});
}

/// "a idle" for each, then "-c" for what is gone; "all:" before it where it is the whole picture.
std::vector<std::string> told(const ActivityBook& book,
                              std::optional<ActivityBook::Revision> seen) {
    book.check_invariants();
    const auto changes = book.since(seen);
    std::vector<std::string> words;
    if (changes.is_whole) words.emplace_back("all:");
    for (const auto* sprite : changes.sprites) {
        const auto facts = wire::parse_json(sprite->text)->as_object();
        words.push_back(std::string(wire::text_at(facts, "id")) + " " +
                        std::string(wire::text_at(facts, "status")));
    }
    for (const auto gone : changes.gone) words.push_back("-" + std::string(gone));
    return words;
}

TEST(ActivityBook, TellsWhatIsDifferent) {
    ActivityBook book;
    book.update({sprite("a"), sprite("b"), sprite("c")});
    const auto first = book.revision();
    EXPECT_THAT(told(book, std::nullopt), ElementsAre("all:", "a idle", "b idle", "c idle"));
    EXPECT_THAT(told(book, first), IsEmpty());

    book.update({sprite("d"), sprite("a"), sprite("b", "running")});

    EXPECT_THAT(told(book, first), ElementsAre("d idle", "b running", "-c"));
    EXPECT_THAT(told(book, book.revision()), IsEmpty());
    EXPECT_THAT(told(book, std::nullopt), ElementsAre("all:", "d idle", "a idle", "b running"));
}

TEST(ActivityBook, KeepsItsPlaceWhileNothingChanges) {
    ActivityBook book;
    book.update({sprite("a"), sprite("b")});
    const auto place = book.revision();
    const auto hash = book.since(std::nullopt).hash;

    book.update({sprite("a"), sprite("b")});

    EXPECT_EQ(book.revision(), place);
    EXPECT_EQ(book.since(std::nullopt).hash, hash);
    book.update({sprite("a"), sprite("b", "ended")});
    EXPECT_NE(book.revision(), place);
    EXPECT_NE(book.since(std::nullopt).hash, hash);
}

TEST(ActivityBook, WhatComesBackIsNotGone) {
    ActivityBook book;
    book.update({sprite("a"), sprite("b")});
    const auto place = book.revision();
    book.update({sprite("a")});
    book.update({sprite("a"), sprite("b")});

    EXPECT_THAT(told(book, place), ElementsAre("b idle"));
}

TEST(ActivityBook, ARevisionThatIsYetToComeGivesTheWholePicture) {
    ActivityBook book;
    const auto before = book.revision();
    book.update({sprite("a")});
    EXPECT_THAT(told(book, book.revision() + 1), ElementsAre("all:", "a idle"));
    EXPECT_THAT(told(book, before), ElementsAre("a idle")) << "there was nothing then";
}

TEST(ActivityBook, AChangeCostsNothingElseItsRevision) {
    ActivityBook book;
    book.update({sprite("a"), sprite("b"), sprite("c")});
    const auto first = book.revision();

    book.next_revision();
    book.put(sprite("b", "running"));
    book.put(sprite("a"));
    book.erase("c");
    book.erase("never there");

    EXPECT_THAT(told(book, first), ElementsAre("b running", "-c"));
    EXPECT_EQ(book.size(), 2U);
    const auto second = book.revision();
    book.next_revision();
    book.put(sprite("c"));
    EXPECT_THAT(told(book, first), ElementsAre("b running", "c idle"));
    EXPECT_THAT(told(book, second), ElementsAre("c idle"));
}

TEST(ActivityBook, WhereItStandsIsNoChange) {
    ActivityBook book;
    book.update({sprite("a"), sprite("b")});
    const auto first = book.revision();

    book.update({sprite("b", "idle", 1), sprite("a", "idle", 2)});

    EXPECT_THAT(told(book, first), IsEmpty());
    EXPECT_THAT(told(book, std::nullopt), ElementsAre("all:", "b idle", "a idle"));
    EXPECT_EQ(book.last()->key, "a");
    EXPECT_EQ(book.last_of(SpritePlace::Part::ended), nullptr);
    EXPECT_EQ(book.last_of(SpritePlace::Part::open)->key, "a");
}

TEST(ActivityBook, IsTheSameWhicheverWayItCameAbout) {
    ActivityBook step_by_step;
    ActivityBook at_once;
    for (const auto* id : {"a", "b", "c"}) step_by_step.put(sprite(id));
    step_by_step.erase("b");
    step_by_step.put(sprite("c", "running"));
    at_once.update({sprite("a"), sprite("c", "running")});

    EXPECT_EQ(step_by_step.since(std::nullopt).hash, at_once.since(std::nullopt).hash);
    EXPECT_EQ(step_by_step.bytes(), at_once.bytes());
}

TEST(ActivityBook, WhoWasAwayTooLongGetsTheWholePicture) {
    ActivityBook book;
    std::vector<Sprite> many;
    for (std::size_t i = 0; i <= limits::space_gone_max; ++i) {
        many.push_back(sprite("s" + std::to_string(i), "idle", 1000 + static_cast<int>(i)));
    }
    book.update(std::move(many));
    const auto full = book.revision();
    book.update({sprite("a")});
    const auto later = book.revision();
    book.update({sprite("b")});

    EXPECT_THAT(told(book, full), ElementsAre("all:", "b idle"));
    EXPECT_THAT(told(book, later), ElementsAre("b idle", "-a"));
}

TEST(ActivityBook, AChangeAndTheWholeOfTheSameHaveHashesOfTheirOwn) {
    ActivityBook book;
    const auto empty = book.revision();
    book.update({sprite("a")});
    EXPECT_NE(book.since(empty).hash, book.since(std::nullopt).hash);
}

}  // namespace
}  // namespace knell::rpc
