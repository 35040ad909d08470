#include "config/config_holder.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Holder : public ::testing::Test {
  protected:
    void write(const std::string& text) const { std::ofstream(file_) << text; }

    const testing::TempFolder temp_;
    const std::string file_ = temp_.path() + "/config.yaml";
    ConfigHolder holder_{file_};
};

TEST_F(Holder, HasReadTheFileBeforeAnybodyAsks) {
    EXPECT_EQ(holder_.current()->events, Retention{}) << "there is none";
    write("events: {keep_days: 7}\n");
    EXPECT_EQ(ConfigHolder(file_).current()->events.keep_for, std::chrono::days{7});
    write("events: {keep_days: soon}\n");
    // It cannot be read: the defaults, except that they delete.
    const auto unread = ConfigHolder(file_).current()->events;
    EXPECT_GT(unread.keep_for, std::chrono::days{36'500});
    EXPECT_GT(unread.keep_count, std::int64_t{1} << 50U);
    EXPECT_EQ(ConfigHolder(file_).current()->http.listen, "127.0.0.1:7717") << "it is right";
}

TEST_F(Holder, SaysWhyTheFileCannotBeUsedUntilItCan) {
    EXPECT_THAT(holder_.trouble(), IsEmpty());
    write("session_reset: {mode: idle, idle_minuts: 3}\nevents: {keep_days: soon}\n");
    holder_.reload();
    EXPECT_THAT(holder_.trouble(), ElementsAre(AllOf(HasSubstr("config.yaml:1:"),
                                                     HasSubstr("what was read before holds")),
                                               HasSubstr("keep_days")));

    ConfigHolder later(file_);
    EXPECT_THAT(later.trouble(),
                ElementsAre(AllOf(HasSubstr("config.yaml:1:"), HasSubstr("(and 1 more)"),
                                  HasSubstr("until it is repaired no event is deleted, no session "
                                            "is reset")),
                            HasSubstr("config.yaml:2:10: events.keep_days: ")));
    EXPECT_FALSE(later.current()->reset_policies->resets_any());
    EXPECT_THAT(later.current()->reset_policies->base().name,
                HasSubstr("config.yaml cannot be used"));

    // Another error changes nothing either, and is told in its place.
    write("session_reset: {mode: idle}\nevents: {keep_days: soon}\n");
    later.reload();
    EXPECT_THAT(later.trouble(), ElementsAre(AllOf(HasSubstr("config.yaml:2:10: "),
                                                   HasSubstr("no session is reset"))));
    EXPECT_FALSE(later.current()->reset_policies->resets_any());

    write("session_reset: {mode: idle}\n");
    later.reload();
    EXPECT_THAT(later.trouble(), IsEmpty());
    EXPECT_EQ(later.current()->reset_policies->base().name, "session_reset");
}

TEST_F(Holder, PublishesWhatIsReadAndTellsWhatChanged) {
    EXPECT_THAT(holder_.reload().changes, IsEmpty());
    write("events: {keep_days: 8}\n");

    const auto reload = holder_.reload();

    EXPECT_THAT(reload.changes, ElementsAre("events.keep_days 30 -> 8"));
    EXPECT_EQ(reload.config->events.keep_for, std::chrono::days{8});
    EXPECT_EQ(reload.config, holder_.current());
    EXPECT_THAT(holder_.reload().changes, IsEmpty());
}

TEST_F(Holder, ASnapshotStaysAsItIs) {
    const auto before = holder_.current();
    write("events: {keep_days: 7}\n");
    holder_.reload();

    EXPECT_EQ(before->events, Retention{});
    EXPECT_NE(before, holder_.current());
}

TEST_F(Holder, WhatIsWrongLeavesTheOneBeforeInForce) {
    write("events: {keep_days: 7}\n");
    holder_.reload();
    const auto before = holder_.current();
    write("events: {keep_days: soon}\n");

    const auto reload = holder_.reload();

    EXPECT_THAT(reload.problems, SizeIs(1));
    EXPECT_FALSE(reload.is_taken());
    EXPECT_EQ(reload.config, before);
    EXPECT_EQ(holder_.current(), before);
}

TEST_F(Holder, AWarningHoldsNothingBack) {
    write("session_reset: {mode: daily}\n");

    const auto reload = holder_.reload();

    EXPECT_TRUE(reload.is_taken());
    EXPECT_THAT(reload.problems, SizeIs(1));
    EXPECT_THAT(reload.changes, ElementsAre("session_reset.mode none -> daily"));
    EXPECT_THAT(holder_.trouble(), IsEmpty());
}

}  // namespace
}  // namespace knell
