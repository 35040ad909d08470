// Leases: renewed in memory, reaped when they are not, and never for a fault of ours.

#include <fmt/format.h>

#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

class Lease : public StoreStory {
  protected:
    Lease() { journal().one(create("a", lease_owner(10s)), at(0)); }
    bool is_open(const std::string& id) { return !shown(id).end; }
    HeartbeatReply beaten(Heartbeat heartbeat, Now now) {
        auto reply = journal().one(std::move(heartbeat), now);
        EXPECT_TRUE(reply) << reply.error().message;
        return std::get<HeartbeatReply>(*reply);
    }
    std::vector<std::string> texts(const std::vector<SessionId>& ids) {
        std::vector<std::string> texts;
        for (const auto& id : ids) texts.push_back(id.text());
        return texts;
    }
};
INSTANTIATE_TEST_SUITE_P(EveryStore, Lease, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

/// A moment after `seconds`: a deadline is never early and fires within a tick of the wheel.
Now just_after(std::int64_t seconds) {
    auto now = at(seconds);
    now.steady += 20ms;
    now.wall += 20ms;
    return now;
}

TEST_P(Lease, IsReapedWhenItsTimeIsOverAndNotBefore) {
    EXPECT_TRUE(journal().tick(at(10)).automatic().empty());
    EXPECT_TRUE(is_open("a"));

    const auto step = journal().tick(just_after(10));

    const auto session = shown("a");
    ASSERT_TRUE(session.end);
    EXPECT_EQ(session.end->reason, Reason::reaped);
    EXPECT_EQ(session.end->proof, Proof::inferred);
    EXPECT_EQ(session.end->detail, "lease of 10 s not renewed");
    EXPECT_EQ(session.end->evidence, "last renewed at " + format_rfc3339(at(0).wall));
    EXPECT_EQ(session.end->ended_after, at(0).wall);
    EXPECT_EQ(session.end->ended_at, at(0).wall);
    EXPECT_EQ(session.end->ended_before, just_after(10).wall);
    ASSERT_EQ(step.automatic().size(), 1U);
    EXPECT_EQ(step.automatic()[0].end, session.end);
    EXPECT_EQ(journal().journal.counts().reaps, 1U);
    EXPECT_LT(journal().journal.counts().reap_lateness_max, 21ms);
}

TEST_P(Lease, ARenewalMovesItsEnd) {
    EXPECT_EQ(texts(beaten(beat("a"), at(7)).renewed), std::vector<std::string>{"a"});

    journal().tick(at(16));
    EXPECT_TRUE(is_open("a"));
    journal().tick(just_after(17));

    ASSERT_FALSE(is_open("a"));
    EXPECT_EQ(shown("a").end->ended_after, at(7).wall);
}

TEST_P(Lease, LivesAsLongAsItIsRenewed) {
    for (int second = 5; second <= 500; second += 5) beaten(beat("a"), at(second));

    EXPECT_TRUE(is_open("a"));
    EXPECT_EQ(journal().journal.counts().heartbeats, 100U);
}

TEST_P(Lease, AWriteIsASignOfLifeToo) {
    journal().one(append("a", 1, {"still here"}), at(9));
    journal().one(turn("a", 1, true), at(18));
    journal().tick(at(27));
    EXPECT_TRUE(is_open("a"));

    journal().tick(just_after(28));

    EXPECT_EQ(shown("a").end->ended_after, at(18).wall);
}

TEST_P(Lease, AReadIsNot) {
    journal().one(Inspect{SessionId("a")}, at(9));
    journal().tick(just_after(10));

    EXPECT_FALSE(is_open("a"));
}

TEST_P(Lease, AStaleGenerationRenewsNothing) {
    auto taken = resume("a", /*takeover=*/true);
    taken.owner = lease_owner(10s);
    journal().one(taken, at(1));

    const auto reply = beaten(beat("a", 1), at(9));

    EXPECT_EQ(texts(reply.fenced), std::vector<std::string>{"a"});
    EXPECT_TRUE(reply.renewed.empty());
    journal().tick(just_after(11));
    EXPECT_FALSE(is_open("a"));
}

TEST_P(Lease, ABatchIsSortedByWhatBecameOfEach) {
    journal().group({create("b", lease_owner(10s)), create("c", lease_owner(10s)), close("b"),
                     resume("c", /*takeover=*/true)},
                    at(1));
    Heartbeat all;
    for (const auto* id : {"a", "b", "c", "nobody"}) all.beats.push_back({SessionId(id), 1});

    const auto reply = beaten(all, at(5));

    EXPECT_EQ(texts(reply.renewed), std::vector<std::string>{"a"});
    EXPECT_EQ(texts(reply.fenced), std::vector<std::string>{"c"});
    EXPECT_EQ(texts(reply.ended), (std::vector<std::string>{"b", "nobody"}));
}

TEST_P(Lease, ABeatInTheStepInWhichItFallsDueIsInTime) {
    EXPECT_EQ(texts(beaten(beat("a"), at(15)).renewed), std::vector<std::string>{"a"});
    EXPECT_TRUE(is_open("a"));
}

TEST_P(Lease, ARestartGivesItItsFullTimeAgain) {
    beaten(beat("a"), at(5));
    restart(at(100));
    journal().tick(at(110));
    EXPECT_TRUE(is_open("a"));

    journal().tick(just_after(110));

    ASSERT_FALSE(is_open("a"));
    // The beat was never saved: honest is what the store knew.
    EXPECT_EQ(shown("a").end->ended_after, at(0).wall);
    EXPECT_EQ(shown("a").end->ended_before, just_after(110).wall);
}

TEST_P(Lease, ACrashLoopDoesNotKeepItForEver) {
    beaten(beat("a"), at(5));
    for (int start = 100; start < 112; start += 3) {
        restart(at(start));
        journal().one(Announce{}, at(start));
        journal().tick(at(start + 2));
    }

    // Its full time again from the first start on, and no longer.
    EXPECT_FALSE(is_open("a"));
    EXPECT_GT(shown("a").end->ended_before, at(110).wall);
}

TEST_P(Lease, ASignOfLifeBetweenTwoRestartsGivesItItsFullTimeAgain) {
    for (int start = 100; start < 160; start += 6) {
        restart(at(start));
        journal().one(Announce{}, at(start));
        beaten(beat("a"), at(start + 1));
        beaten(beat("a"), at(start + 2));
        journal().tick(at(start + 5));
    }
    EXPECT_TRUE(is_open("a"));

    restart(at(160));
    journal().tick(at(170));
    EXPECT_TRUE(is_open("a"));
    journal().tick(just_after(170));
    EXPECT_FALSE(is_open("a"));
}

TEST_P(Lease, WhoKnocksDuringTheStartIsHeardFirst) {
    for (const auto start : {100, 105, 109}) {
        restart(at(start));
        journal().one(Announce{}, at(start));
    }
    restart(at(300));
    journal().tick(at(300));
    EXPECT_TRUE(is_open("a"));

    EXPECT_EQ(texts(beaten(beat("a"), at(301)).renewed), std::vector<std::string>{"a"});
    journal().tick(at(310));
    EXPECT_TRUE(is_open("a"));
}

TEST_P(Lease, OnlyTheFirstBeatAfterARestartIsWritten) {
    restart(at(100));
    journal().one(Announce{}, at(100));
    beaten(beat("a"), at(101));
    const auto commits = journal().journal.counts().commits;

    for (int second = 102; second < 110; ++second) beaten(beat("a"), at(second));

    EXPECT_EQ(journal().journal.counts().commits, commits);
}

TEST_P(Lease, WithoutATermIsNeverReapedByAge) {
    // As an importer would write it: nobody ever promised to renew it.
    auto imported = create("old", lease_owner(0s));
    journal().one(imported, at(0));
    journal().tick(at(10 * 365 * 24 * 3600));

    EXPECT_TRUE(is_open("old"));
}

TEST_P(Lease, OfManyEachIsReapedInItsOwnTime) {
    for (int i = 1; i <= 60; ++i) {
        journal().one(create(fmt::format("l{}", i), lease_owner(std::chrono::seconds{20 + i * 3})),
                      at(0));
    }
    for (int i = 1; i <= 60; ++i) {
        const auto id = fmt::format("l{}", i);
        journal().tick(at(20 + i * 3));
        EXPECT_TRUE(is_open(id)) << id;
        journal().tick(just_after(20 + i * 3));
        EXPECT_FALSE(is_open(id)) << id;
    }
}

// --- the last signs of life in the store ---------------------------------------------------------

TEST_P(Lease, BeatsAreNotWrittenOneByOne) {
    for (int i = 0; i < 100; ++i) {
        journal().one(create(fmt::format("l{}", i), lease_owner(1000s)), at(0));
    }
    const auto commits = journal().journal.counts().commits;
    for (int second = 1; second < 60; ++second) {
        Heartbeat all;
        for (int i = 0; i < 100; ++i) all.beats.push_back({SessionId(fmt::format("l{}", i)), 1});
        all.beats.push_back({SessionId("a"), 1});
        beaten(all, at(second));
    }
    EXPECT_EQ(journal().journal.counts().commits, commits);
    EXPECT_EQ(shown("l7").last_seen_at, at(0).wall);

    beaten(beat("l7"), at(60));

    EXPECT_EQ(journal().journal.counts().commits, commits + 1);
    EXPECT_EQ(shown("l7").last_seen_at, at(60).wall);
    EXPECT_EQ(shown("l8").last_seen_at, at(59).wall);
    for (int second = 61; second < 120; ++second) beaten(beat("l7"), at(second));
    EXPECT_EQ(journal().journal.counts().commits, commits + 2) << "a was reaped, nothing else";
}

TEST_P(Lease, ManySignsOfLifeAreWrittenInPieces) {
    constexpr int leases = 4500;
    std::vector<Input> inputs;
    Heartbeat all;
    for (int i = 0; i < leases; ++i) {
        inputs.emplace_back(create(fmt::format("l{}", i), lease_owner(1000s)));
        all.beats.push_back({SessionId(fmt::format("l{}", i)), 1});
    }
    journal().group(std::move(inputs), at(0));
    beaten(beat("a"), at(8));
    const auto commits = journal().journal.counts().commits;

    beaten(all, at(60));

    EXPECT_GE(journal().journal.counts().commits, commits + 3);
    for (int i = 0; i < leases; i += 500) {
        EXPECT_EQ(shown(fmt::format("l{}", i)).last_seen_at, at(60).wall);
    }
}

TEST_P(Lease, APlannedStopKeepsTheLastSignsOfLife) {
    beaten(beat("a"), at(9));
    journal().state.set_watched_until(at(8).boot);
    ASSERT_TRUE(journal().journal.save_all_seen(at(9)));
    restart(at(50));
    EXPECT_EQ(shown("a").last_seen_at, at(9).wall);
    EXPECT_EQ(journal().state.heads().last_word->at, at(8).wall);
    journal().tick(just_after(60));

    EXPECT_EQ(shown("a").end->ended_after, at(9).wall);
}

TEST_P(Lease, TheDaemonSaysNowAndThenUntilWhenItHasWatched) {
    beaten(beat("a"), at(9));
    journal().state.set_watched_until(at(60).boot);
    journal().one(create("p"), at(61));
    restart(at(100));

    EXPECT_EQ(journal().state.heads().last_word->at, at(60).wall);
}

}  // namespace
}  // namespace knell::testing
