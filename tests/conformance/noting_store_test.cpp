// What the writer of a store notes for whoever looks at it again.

#include "store/noting_store.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stores.hpp"

namespace knell::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Noting : public ::testing::Test {
  protected:
    template <typename Command>
    void one(Command command, std::int64_t second) {
        EXPECT_TRUE(journal_.one(std::move(command), at(second)));
    }

    /// "a" for one that was written, "c@9" if its end was told at 9 s; "?" where it is not known.
    std::vector<std::string> changed() {
        const auto taken = store_.notes().take().changed;
        if (!taken.is_known) return {"?"};
        std::vector<std::string> names;
        for (const auto& [id, told_at] : taken.ended_at_of) {
            const auto seconds = [&] {
                return (to_millis(*told_at) - to_millis(at(0).wall)) / 1000;
            };
            names.push_back(told_at ? fmt::format("{}@{}", id.text(), seconds()) : id.text());
        }
        std::ranges::sort(names);
        return names;
    }

    NotingStore store_{make_memory_store()};
    JournalOnStore journal_{store_};
};

TEST_F(Noting, WhatWasWrittenIsToldOnce) {
    one(create("a"), 0);
    EXPECT_THAT(changed(), ElementsAre("?")) << "nobody asked before";
    EXPECT_THAT(changed(), IsEmpty());

    std::vector<Input> two;
    two.emplace_back(create("b"));
    two.emplace_back(append("a", 1, {"hello"}));
    journal_.group(std::move(two), at(1));
    EXPECT_THAT(changed(), ElementsAre("a", "b"));
    EXPECT_THAT(changed(), IsEmpty());

    one(close("a"), 2);
    one(pin("b"), 3);
    EXPECT_THAT(changed(), ElementsAre("a@2", "b"));
}

TEST_F(Noting, AnInteractionIsMoreThanASignOfLife) {
    one(create("a"), 0);
    changed();
    const SessionRef a{SessionId("a"), 1, 1};
    Batch seen;
    seen.changes = {Seen{a, at(1).wall}};
    ASSERT_TRUE(store_.commit(seen));
    EXPECT_THAT(changed(), IsEmpty());

    Batch interacted;
    interacted.changes = {Interacted{a, at(2).wall}};
    ASSERT_TRUE(store_.commit(interacted));
    EXPECT_THAT(changed(), ElementsAre("a"));
}

TEST_F(Noting, AnEndIsToldByTheLastOne) {
    one(create("a"), 0);
    changed();
    one(close("a"), 1);
    one(resume("a"), 2);
    one(close("a"), 3);
    one(pin("a"), 4);
    EXPECT_THAT(changed(), ElementsAre("a@3"));
}

TEST_F(Noting, WhenTooMuchWasWrittenItIsOnlyKnownThatSomethingWas) {
    changed();
    std::vector<Input> creates;
    for (std::size_t i = 0; i <= ChangeNotes::sessions_max; ++i) {
        creates.emplace_back(create(fmt::format("s{}", i)));
    }
    journal_.group(std::move(creates), at(0));
    EXPECT_THAT(changed(), ElementsAre("?"));
    EXPECT_THAT(changed(), IsEmpty());
}

TEST_F(Noting, SignsOfLifeAloneAreNoChange) {
    one(create("a", lease_owner()), 0);
    changed();
    EXPECT_TRUE(journal_.journal.save_all_seen(at(5)));
    EXPECT_THAT(changed(), IsEmpty());
}

TEST_F(Noting, ABackgroundProcessAloneIsNoChangeOfItsSession) {
    one(create("a"), 0);
    changed();
    Batch batch;
    BackgroundProcess process;
    process.number = 1;
    process.id = ProcessId::from_bits(1);
    process.session_id = SessionId("a");
    batch.changes.emplace_back(ProcessOpened{process});
    batch.changes.emplace_back(ProcessVouched{{process.number, process.id}, at(9).wall});
    ASSERT_TRUE(store_.commit(batch));
    EXPECT_THAT(changed(), IsEmpty());

    batch.changes = {BackgroundSet{{SessionId("a"), 1, 1}, at(1).wall, at(1).wall, {}}};
    ASSERT_TRUE(store_.commit(batch));
    EXPECT_THAT(changed(), ElementsAre("a"));
}

TEST_F(Noting, WhatWasNotCommittedIsNotTold) {
    one(create("a"), 0);
    changed();
    Batch twice;
    twice.changes.emplace_back(Opened{.session = **store_.find(SessionId("a"))});
    EXPECT_FALSE(store_.commit(twice));
    EXPECT_THAT(changed(), IsEmpty());
}

TEST(ChangeNotes, KnowThatAWriteIsOnItsWay) {
    ChangeNotes notes;
    EXPECT_FALSE(notes.take().was_writing);
    {
        const ChangeNotes::Writing writing(notes);
        EXPECT_TRUE(notes.take().was_writing);
        EXPECT_TRUE(notes.take().was_writing) << "it may be done by the next time";
    }
    EXPECT_TRUE(notes.take().was_writing);
    EXPECT_FALSE(notes.take().was_writing);
}

}  // namespace
}  // namespace knell::testing
