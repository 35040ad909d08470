#include "net/http/keepalive.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "net/http/bounds.hpp"

namespace knell::net::http {
namespace {

using namespace std::chrono_literals;
using Step = Keepalive::Step;

SteadyTime at(std::chrono::nanoseconds since) {
    return SteadyTime{since};
}

TEST(Keepalive, AsksASilentClientAndGivesItUp) {
    Keepalive client(40s, at(0s));
    EXPECT_EQ(client.due(), at(20s));
    EXPECT_EQ(client.step(at(19s)), Step::wait);
    EXPECT_EQ(client.step(at(20s)), Step::ping);
    EXPECT_EQ(client.due(), at(40s));
    EXPECT_EQ(client.step(at(39s)), Step::wait);
    EXPECT_EQ(client.step(at(40s)), Step::give_up);
}

TEST(Keepalive, AWordOfTheClientBeginsAnew) {
    Keepalive client(40s, at(0s));
    client.heard(at(15s));
    EXPECT_EQ(client.step(at(20s)), Step::wait);
    EXPECT_EQ(client.step(at(35s)), Step::ping);
    client.heard(at(54s));
    EXPECT_EQ(client.step(at(55s)), Step::wait);
    EXPECT_EQ(client.step(at(74s)), Step::ping) << "the answer was to the ping before";
}

TEST(Keepalive, OurOwnDelayIsNotTheClients) {
    Keepalive client(40s, at(0s));
    EXPECT_EQ(client.step(at(20s)), Step::ping);
    // We stood still for ten minutes; the answer may wait to be read.
    EXPECT_EQ(client.step(at(640s)), Step::wait);
    EXPECT_EQ(client.due(), at(660s));
    EXPECT_EQ(client.step(at(660s)), Step::give_up);
}

/// What the server promises: a client that is cut off is found within 45 seconds.
TEST(Keepalive, FindsWhoIsGoneIn45Seconds) {
    const auto silence = Deadlines{}.silence;
    const auto gone_at = at(1234s);
    Keepalive client(silence, at(0s));
    client.heard(gone_at);
    auto now = gone_at;
    for (auto step = Step::wait; step != Step::give_up;) {
        now = client.due() + 900ms;  // as late as timers may be
        step = client.step(now);
    }
    EXPECT_LE(now - gone_at, 45s);
}

RC_GTEST_PROP(Keepalive, NeverGivesUpAClientThatAnswers, ()) {
    Keepalive client(40s, at(0s));
    auto now = at(0s);
    for (int i = 0; i < 50; ++i) {
        const auto late = std::chrono::milliseconds(*rc::gen::inRange(0, 100'000));
        now = client.due() + late;
        const auto step = client.step(now);
        RC_ASSERT(step == Step::ping);
        // It answers before the time is over; we may read that later than that.
        now += std::chrono::milliseconds(*rc::gen::inRange(0, 19'999));
        if (*rc::gen::arbitrary<bool>()) {
            now = client.due() + std::chrono::milliseconds(*rc::gen::inRange(1'001, 100'000));
            RC_ASSERT(client.step(now) == Step::wait);
        }
        client.heard(now);
    }
}

RC_GTEST_PROP(Keepalive, GivesUpASilentClientInTimeForAllTheWordsBefore, ()) {
    const auto silence = std::chrono::milliseconds(*rc::gen::inRange(1'000, 600'000));
    Keepalive client(silence, at(0s));
    auto now = at(0s);
    for (int i = *rc::gen::inRange(0, 20); i > 0; --i) {
        now += std::chrono::milliseconds(*rc::gen::inRange(0, 100));
        client.heard(now);
    }
    const auto last_word = now;
    for (auto step = Step::wait; step != Step::give_up; step = client.step(now)) {
        now = client.due() + std::chrono::milliseconds(*rc::gen::inRange(0, 1'000));
    }
    RC_ASSERT(now - last_word >= silence);
    RC_ASSERT(now - last_word <= silence + 2s);
}

}  // namespace
}  // namespace knell::net::http
