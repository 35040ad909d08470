// What waits for a client, with a sink that takes as much as a test lets it.

#include "net/outbox.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::net {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class FakeSink final : public Outbox::Sink {
  public:
    std::optional<std::size_t> take(std::string_view bytes) override {
        if (is_broken) return std::nullopt;
        ++writes;
        const auto fits = std::min(bytes.size(), room);
        taken += bytes.substr(0, fits);
        room -= fits;
        return fits;
    }
    void flush_soon() override { ++soon; }
    void flush_when_it_fits(std::chrono::milliseconds patience) override {
        ++waits;
        waits_for = patience;
    }
    void on_flushed() override {
        ++flushed;
        if (!more.empty()) outbox->put(std::exchange(more, {}));
    }
    void close_when_sent() override { is_closing = true; }
    void close() override {
        is_closed = true;
        outbox->close();
    }

    Outbox* outbox = nullptr;
    std::size_t room = SIZE_MAX;
    std::string taken;
    std::string more;  // a feed has this to say when there is room
    bool is_broken = false;
    int writes = 0;
    int soon = 0;
    int waits = 0;
    std::chrono::milliseconds waits_for{0};
    int flushed = 0;
    bool is_closing = false;
    bool is_closed = false;
};

/// Messages that end with two bytes.
constexpr wire::Framing paragraphs{.end = "\n\n",
                                   .append_event = wire::append_event_line,
                                   .append_gap = wire::append_gap_line,
                                   .append_error = [](std::string& out, const Error& why) {
                                       out += "error: " + why.message + "\n\n";
                                   }};

class OutboxTest : public ::testing::Test {
  protected:
    OutboxTest() { use(outbox_); }
    void TearDown() override { sink_.outbox->check_invariants(); }

    void use(Outbox& outbox) { sink_.outbox = &outbox; }
    void let(std::size_t bytes) {
        sink_.room = bytes;
        sink_.outbox->flush();
    }
    std::string rest() {
        sink_.taken.clear();
        let(SIZE_MAX);
        return sink_.taken;
    }

    FakeSink sink_;
    MemoryBudget all_{limits::unsent_bytes_all_max, [] {}};
    Outbox outbox_{sink_, wire::json_lines, all_, 7s};
};

TEST_F(OutboxTest, WhatGathersLeavesInItsOrderAndInOneWrite) {
    outbox_.put("answer\n");
    outbox_.put("event\nevent\n");
    outbox_.put("answer\n");
    EXPECT_EQ(sink_.soon, 1);
    EXPECT_EQ(sink_.taken, "");
    EXPECT_EQ(outbox_.size(), 26U);
    EXPECT_EQ(all_.held(), 26U);

    outbox_.flush();

    EXPECT_EQ(sink_.taken, "answer\nevent\nevent\nanswer\n");
    EXPECT_EQ(sink_.writes, 1);
    EXPECT_EQ(sink_.waits, 0);
    EXPECT_EQ(sink_.flushed, 1);
    EXPECT_TRUE(outbox_.is_empty());
    EXPECT_EQ(all_.held(), 0U);
    outbox_.put("x\n");
    EXPECT_EQ(sink_.soon, 2);
}

TEST_F(OutboxTest, WhatDoesNotFitWaitsAsLongAsItsPatience) {
    outbox_.put("0123456789\n");
    let(4);

    EXPECT_EQ(sink_.taken, "0123");
    EXPECT_EQ(outbox_.size(), 7U);
    EXPECT_EQ(all_.held(), 7U);
    EXPECT_EQ(sink_.waits, 1);
    EXPECT_EQ(sink_.waits_for, 7s);
    EXPECT_EQ(sink_.flushed, 1) << "some has left";

    outbox_.put("more\n");
    EXPECT_EQ(sink_.soon, 1) << "it is called when there is room, and has all then";
    let(0);
    EXPECT_EQ(sink_.waits, 2);
    EXPECT_EQ(rest(), "456789\nmore\n");
}

TEST_F(OutboxTest, WhatAFeedPutsAsRoomIsToldIsFlushedToo) {
    outbox_.put("a\n");
    sink_.more = "b\n";
    outbox_.flush();
    EXPECT_EQ(sink_.soon, 2);
    sink_.more = "c\n";
    let(1);
    EXPECT_EQ(sink_.soon, 2) << "a wait goes on";
    EXPECT_EQ(sink_.waits, 1);
    EXPECT_EQ(rest(), "\nc\n");
}

TEST_F(OutboxTest, ItHoldsAsMuchAsItsBoundAndNoMore) {
    sink_.room = 0;
    const std::string big(limits::unsent_bytes_max - 1, 'x');
    outbox_.put(big);
    outbox_.put("\n");
    EXPECT_FALSE(outbox_.is_refused());
    EXPECT_EQ(outbox_.size(), limits::unsent_bytes_max);

    outbox_.put("y");

    EXPECT_TRUE(outbox_.is_refused());
    EXPECT_TRUE(sink_.is_closing);
    outbox_.put("z\n");
    outbox_.refuse("again");
    const auto sent = rest();
    EXPECT_THAT(sent, StartsWith(big + "\n{"));
    EXPECT_THAT(sent.substr(big.size()), HasSubstr("8388608 bytes of answers are waiting for you, "
                                                   "and 1 more came; at most 8388608 are kept"));
    EXPECT_EQ(std::ranges::count(sent, '\n'), 2) << "nothing behind the reason";
    EXPECT_FALSE(sink_.is_closed) << "that is for when all is sent";
}

TEST_F(OutboxTest, AReasonIsTheLastButForAnswersThatAreOwed) {
    outbox_.put("a\n");
    outbox_.finish({ErrorCode::storage, "the disk is gone", {}, {}});
    EXPECT_TRUE(sink_.is_closing);
    outbox_.put("b\n");
    const auto sent = rest();
    EXPECT_THAT(sent, StartsWith("a\n{"));
    EXPECT_THAT(sent, HasSubstr("the disk is gone"));
    EXPECT_TRUE(sent.ends_with("}\nb\n"));
}

TEST_F(OutboxTest, WhoGivesUpBetweenMessagesIsTold) {
    outbox_.put("one\n");
    outbox_.flush();
    outbox_.put("two\nthree\n");
    outbox_.give_up();

    EXPECT_FALSE(sink_.is_closed);
    const auto sent = rest();
    EXPECT_THAT(sent, StartsWith("{"));
    EXPECT_THAT(sent, HasSubstr("all clients together leave more than 67108864 bytes"));
}

TEST_F(OutboxTest, WhoGivesUpWithinAMessageIsSentItsEndFirst) {
    outbox_.put("one\ntwo\nthree\n");
    let(5);
    outbox_.give_up();

    EXPECT_TRUE(sink_.is_closing);
    EXPECT_THAT(rest(), StartsWith("wo\n{"));
}

TEST_F(OutboxTest, WhoGivesUpWithinALongMessageIsClosed) {
    constexpr std::size_t finished = 256U << 10U;
    for (const auto left : {finished, finished + 1}) {
        FakeSink sink;
        Outbox outbox(sink, wire::json_lines, all_);
        sink.outbox = &outbox;
        outbox.put(std::string(left, 'x') + "\n");
        sink.room = 1;
        outbox.flush();
        outbox.give_up();
        EXPECT_EQ(sink.is_closed, left > finished);
        EXPECT_EQ(outbox.is_empty(), left > finished);
    }
    EXPECT_EQ(all_.held(), 0U) << "with the outbox its share goes";
}

TEST_F(OutboxTest, WhoHasGivenUpOnceIsClosed) {
    outbox_.put("one\n");
    outbox_.give_up();
    EXPECT_FALSE(sink_.is_closed);
    outbox_.give_up();
    EXPECT_TRUE(sink_.is_closed);
    EXPECT_EQ(all_.held(), 0U);
}

TEST_F(OutboxTest, TheEndOfAMessageMayLeaveInPieces) {
    Outbox outbox(sink_, paragraphs, all_);
    use(outbox);
    outbox.put("id: 1\ndata: x\n\nid: 2\n\nid: 3\n\n");
    let(14);  // the first byte of the first end
    let(1);
    EXPECT_EQ(sink_.taken, "id: 1\ndata: x\n\n");
    let(6);  // a line of the second is no message
    outbox.give_up();
    EXPECT_THAT(rest(), StartsWith("\nid: 3\n\nerror: all clients"));
    use(outbox_);
}

TEST_F(OutboxTest, BetweenMessagesOfTwoBytesNothingIsKept) {
    Outbox outbox(sink_, paragraphs, all_);
    use(outbox);
    outbox.put("id: 1\n\nid: 2\n\n");
    let(6);
    let(1);
    outbox.give_up();
    EXPECT_THAT(rest(), StartsWith("error: all clients"));
    use(outbox_);
}

TEST_F(OutboxTest, AClientThatIsGoneClosesIt) {
    outbox_.put("one\n");
    sink_.is_broken = true;
    outbox_.flush();

    EXPECT_TRUE(sink_.is_closed);
    EXPECT_TRUE(outbox_.is_empty());
    EXPECT_EQ(sink_.waits, 0);
    EXPECT_EQ(sink_.flushed, 1) << "whoever waits for room learns of it";
}

TEST_F(OutboxTest, WhatComesAfterTheEndIsDropped) {
    outbox_.put("one\n");
    outbox_.close();
    outbox_.put("two\n");
    outbox_.finish({ErrorCode::internal, "x", {}, {}});
    outbox_.flush();

    EXPECT_EQ(sink_.taken, "");
    EXPECT_EQ(sink_.flushed, 0);
    EXPECT_FALSE(sink_.is_closing);
    EXPECT_EQ(all_.held(), 0U);
}

}  // namespace
}  // namespace knell::net
