// What becomes of leftovers is recorded after the end they belong to, once.

#include <gmock/gmock.h>

#include "stores.hpp"

namespace knell::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LeftoverFates : public StoreStory {
  protected:
    /// A command that ended while this was left running, with the policy to stop it.
    void leave(std::vector<Leftover> leftovers) {
        auto command = create("a", process_owner(5));
        command.draft.leftovers = LeftoversPolicy::stop;
        journal().one(command);
        journal().step({gone(5, exited(0), "a", std::move(leftovers))}, at(1));
    }
    std::vector<std::string> unsettled() {
        std::vector<std::string> ids;
        EXPECT_TRUE(store().for_each_unsettled(
            [&](const Session& session) { ids.emplace_back(session.id.text()); }));
        return ids;
    }
};

INSTANTIATE_TEST_SUITE_P(EveryStore, LeftoverFates, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(LeftoverFates, AreRecordedAfterTheEnd) {
    leave({leftover(42), leftover(43), leftover(44, Fate::shared), leftover(45, Fate::gone)});
    EXPECT_THAT(unsettled(), ElementsAre("a"));

    journal().one(settle("a", 1, {leftover(42, Fate::stopped), leftover(43, Fate::killed)}), at(2));

    const std::vector fates{leftover(42, Fate::stopped), leftover(43, Fate::killed),
                            on_record(leftover(44, Fate::shared)), leftover(45, Fate::gone)};
    EXPECT_EQ(shown("a").end->leftovers, fates);
    EXPECT_THAT(unsettled(), IsEmpty());
    restart();
    EXPECT_EQ(shown("a").end->leftovers, fates);
}

TEST_P(LeftoverFates, ThatComeInOneGroupAreAllRecorded) {
    leave({leftover(42), leftover(43)});

    journal().group({settle("a", 1, {leftover(42, Fate::stopped)}),
                     settle("a", 1, {leftover(43, Fate::killed)})},
                    at(2));

    EXPECT_EQ(shown("a").end->leftovers,
              (std::vector{leftover(42, Fate::stopped), leftover(43, Fate::killed)}));
}

TEST_P(LeftoverFates, ThatAreOpenAreFoundAfterARestart) {
    leave({leftover(42)});

    restart();

    EXPECT_THAT(unsettled(), ElementsAre("a"));
}

TEST_P(LeftoverFates, OnceRecordedDoNotChange) {
    leave({leftover(42)});
    journal().one(settle("a", 1, {leftover(42, Fate::killed)}), at(2));

    journal().one(settle("a", 1, {leftover(42, Fate::left)}), at(3));

    EXPECT_EQ(shown("a").end->leftovers, std::vector{leftover(42, Fate::killed)});
}

TEST_P(LeftoverFates, AreNotThoseOfANamesakeUnderTheSamePid) {
    leave({leftover(42)});
    auto namesake = leftover(42, Fate::killed);
    ++namesake.process.start_ticks;

    journal().one(settle("a", 1, {namesake}), at(2));

    EXPECT_EQ(shown("a").end->leftovers, std::vector{leftover(42, Fate::stopping)});
}

TEST_P(LeftoverFates, OfAnEarlierGenerationDoNotTouchALaterOne) {
    leave({leftover(42)});
    journal().one(resume("a"), at(2));
    journal().one(settle("a", 1, {leftover(42, Fate::killed)}), at(3));
    EXPECT_FALSE(shown("a").end);
    EXPECT_THAT(unsettled(), IsEmpty());

    journal().one(close("a"), at(4));
    journal().one(settle("a", 1, {leftover(42, Fate::killed)}), at(5));

    EXPECT_TRUE(shown("a").end->leftovers.empty());
}

TEST_P(LeftoverFates, KnownInTheMomentOfTheEndAreRecordedAfterIt) {
    auto command = create("a", process_owner(5));
    command.draft.leftovers = LeftoversPolicy::stop;
    journal().one(command);
    auto end = close("a");
    end.leftovers = {leftover(42)};

    journal().group({end, settle("a", 1, {leftover(42, Fate::gone)})}, at(1));

    EXPECT_EQ(shown("a").end->leftovers, std::vector{leftover(42, Fate::gone)});
}

}  // namespace
}  // namespace knell::testing
