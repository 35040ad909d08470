#include "rpc/attachments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/silent_stream.hpp"

namespace knell::rpc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto look = Attachments::Kind::look;
constexpr auto turn = Attachments::Kind::turn;
constexpr ConnectionId first{1};
constexpr ConnectionId second{2};

class AttachmentsTest : public ::testing::Test {
  protected:
    Attachments::Ticket enter(ConnectionId connection, Attachments::Kind kind = look) {
        return attachments_.enter(kind, {connection, connection == first ? "one" : "two"}, stream_,
                                  session_);
    }
    bool is_there(ConnectionId connection, Attachments::Kind kind = look) {
        return attachments_.ticket_of(kind, connection, session_) != 0;
    }

    const SessionId session_{"a"};
    testing::SilentStream stream_;
    Attachments attachments_;
};

TEST_F(AttachmentsTest, TellsEachWhoElseIsThere) {
    enter(first);
    enter(second);

    EXPECT_THAT(attachments_.others(first, session_, 9), ElementsAre("two"));
    EXPECT_THAT(attachments_.others(ConnectionId{3}, session_, 1), ElementsAre("one"));
    EXPECT_THAT(attachments_.others(first, SessionId("b"), 9), IsEmpty());
    EXPECT_EQ(attachments_.size(), 2U);
    EXPECT_EQ(attachments_.count(first), 1U);
    EXPECT_EQ(attachments_.stream_of(first), &stream_);
    EXPECT_EQ(attachments_.stream_of(ConnectionId{3}), nullptr);
}

TEST_F(AttachmentsTest, AClosedConnectionGivesAllThatItHad) {
    enter(first);
    enter(first, turn);
    attachments_.enter(turn, {first, "one"}, stream_, SessionId("b"));
    enter(second);

    const auto taken = attachments_.take(first);

    EXPECT_THAT(taken.sessions, ElementsAre(session_));
    EXPECT_THAT(taken.turns, ElementsAre(session_, SessionId("b")));
    EXPECT_EQ(attachments_.size(), 1U);
    EXPECT_EQ(attachments_.stream_of(first), nullptr);
    EXPECT_THAT(attachments_.take(first).sessions, IsEmpty());
    EXPECT_THAT(attachments_.others(second, session_, 9), IsEmpty());
}

TEST_F(AttachmentsTest, WhatWasRefusedIsForgottenUnlessItWasThereBefore) {
    attachments_.refused(look, first, session_, enter(first));
    EXPECT_FALSE(is_there(first));

    enter(first);
    attachments_.confirm(look, first, session_, 1);
    attachments_.refused(look, first, session_, enter(first));
    EXPECT_TRUE(is_there(first)) << "the engine has it, and would never hear that it goes";
}

TEST_F(AttachmentsTest, ALateAnswerDoesNotTouchALaterCall) {
    const auto early = enter(first);
    attachments_.confirm(look, first, session_, 1);
    const auto late = enter(first);
    attachments_.left(look, first, session_, early);  // detach, then attach, before its answer
    EXPECT_TRUE(is_there(first));
    attachments_.refused(look, first, session_, early);
    EXPECT_TRUE(is_there(first));

    attachments_.refused(look, first, session_, late);

    EXPECT_FALSE(is_there(first)) << "the engine let go of it";
    attachments_.left(look, first, session_, late);
    attachments_.confirm(look, first, session_, 1);
    EXPECT_FALSE(is_there(first));
}

TEST_F(AttachmentsTest, LeavingTakesTheEntryAndItsFeed) {
    const auto ticket = enter(first);
    attachments_.set_feed(first, session_, 7);
    EXPECT_EQ(attachments_.take_feed(first, session_), 7U);
    EXPECT_EQ(attachments_.take_feed(first, session_), 0U);

    attachments_.left(look, first, session_, ticket);

    EXPECT_FALSE(is_there(first));
    EXPECT_EQ(attachments_.size(), 0U);
    attachments_.set_feed(first, session_, 8);
    EXPECT_EQ(attachments_.take_feed(first, session_), 0U);
}

TEST_F(AttachmentsTest, AnEndReleasesThoseOfItsGenerationAndEarlierOnes) {
    enter(first);
    attachments_.confirm(look, first, session_, 1);
    attachments_.set_feed(first, session_, 7);
    enter(first, turn);
    attachments_.confirm(turn, first, session_, 2);
    enter(second);

    EXPECT_THAT(attachments_.release(session_, 2), ElementsAre(7U));

    EXPECT_FALSE(is_there(first));
    EXPECT_FALSE(is_there(first, turn));
    EXPECT_TRUE(is_there(second)) << "its answer is on its way, and may be about the next life";
    attachments_.confirm(look, second, session_, 3);
    EXPECT_THAT(attachments_.release(session_, 2), IsEmpty());
    EXPECT_TRUE(is_there(second));
    EXPECT_THAT(attachments_.release(SessionId("b"), 9), IsEmpty());
}

}  // namespace
}  // namespace knell::rpc
