// A disk that fails costs nobody a lease, and what fell due meanwhile ends once it works again.

#include <csignal>

#include <fmt/format.h>

#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

class OnFailingDisk : public ::testing::Test {
  protected:
    OnFailingDisk() {
        auto opened = sqlite::open_store({.path = "knell.db", .vfs = disk.vfs()});
        EXPECT_TRUE(opened) << opened.error().message;
        store = std::move(*opened);
        journal = std::make_unique<JournalOnStore>(*store);
        reader = std::move(*store->open_reader());
    }
    void TearDown() override { EXPECT_EQ(broken_promises(*reader), std::vector<std::string>{}); }

    void break_disk() { disk.fail_at(1, FaultyDisk::Fault::full, 1'000'000); }
    void mend_disk() { disk.heal(); }
    Session shown(const std::string& id) { return **reader->find(SessionId(id)); }

    FaultyDisk disk;
    std::unique_ptr<Store> store;
    std::unique_ptr<JournalOnStore> journal;
    std::unique_ptr<Reader> reader;
};

TEST_F(OnFailingDisk, ABeatIsHeard) {
    journal->one(create("a", lease_owner(10s)), at(0));
    break_disk();

    const auto step =
        journal->step({append("a", 1, {"x"}), beat("a"), append("a", 1, {"y"})}, at(9));

    EXPECT_TRUE(step.failed);
    EXPECT_EQ(step.replies[0].error().code, ErrorCode::storage);
    ASSERT_TRUE(step.replies[1]);
    EXPECT_EQ(std::get<HeartbeatReply>(*step.replies[1]).renewed.size(), 1U);
    EXPECT_FALSE(step.replies[2]);
    mend_disk();
    journal->tick(at(18));
    EXPECT_FALSE(shown("a").end) << "renewed at 9 for 10 s";
    journal->tick(at(20));
    EXPECT_EQ(shown("a").end->ended_after, at(9).wall);
}

TEST_F(OnFailingDisk, ABeatThatMakesItCertainIsHeard) {
    std::vector<Input> inputs;
    for (int i = 0; i < 20; ++i)
        inputs.emplace_back(create(fmt::format("l{}", i), lease_owner(10s)));
    journal->group(std::move(inputs), at(0));
    journal->tick(at(11));
    ASSERT_EQ(journal->state.count(Status::unknown), 20U);
    break_disk();
    ASSERT_TRUE(journal->one(beat("l0"), at(20)));
    mend_disk();

    journal->tick(at(23));

    EXPECT_FALSE(shown("l0").end) << "it stays unknown, but the lease was renewed";
    EXPECT_TRUE(shown("l1").end);
    journal->one(beat("l0"), at(24));
    EXPECT_FALSE(shown("l0").unknown_since);
}

TEST_F(OnFailingDisk, NobodyIsFencedByATakeoverThatDidNotHappen) {
    journal->group({create("a", lease_owner(10s)), create("b", lease_owner(10s))}, at(0));
    break_disk();

    const auto step =
        journal->step({resume("a", /*takeover=*/true), close("b"), beat("a"), beat("b")}, at(5));

    for (const auto& reply : step.replies) {
        ASSERT_FALSE(reply);
        EXPECT_EQ(reply.error().code, ErrorCode::storage);
    }
    mend_disk();
    EXPECT_EQ(std::get<HeartbeatReply>(*journal->one(beat("a"), at(6))).renewed.size(), 1U);
    EXPECT_EQ(std::get<HeartbeatReply>(*journal->one(beat("b"), at(6))).renewed.size(), 1U);
}

TEST_F(OnFailingDisk, AWriteThatIsRefusedIsASignOfLifeAllTheSame) {
    journal->group({create("a", lease_owner(10s)), create("b", lease_owner(10s)),
                    create("c", lease_owner(10s)), create("d", lease_owner(10s))},
                   at(0));
    break_disk();

    // b is refused for a takeover that does not happen; c and d stand behind a transaction that
    // is cut, because the row of x must be written first.
    journal->step({append("a", 1, {"x"}), resume("b", /*takeover=*/true), turn("b", 1, true),
                   create("x"), close("x"), resume("x"), beat("c"), append("d", 1, {"y"})},
                  at(9));
    mend_disk();
    journal->tick(at(18));

    for (const auto* id : {"a", "b", "c", "d"}) EXPECT_FALSE(shown(id).end) << id;
    journal->tick(at(20));
    for (const auto* id : {"a", "b", "c", "d"}) EXPECT_TRUE(shown(id).end) << id;
}

TEST_F(OnFailingDisk, ReapsAreTriedAgain) {
    journal->group({create("a", lease_owner(10s)), create("b", lease_owner(3600s))}, at(0));
    break_disk();
    for (int second = 11; second < 30; ++second) {
        EXPECT_TRUE(journal->tick(at(second)).failed);
        EXPECT_TRUE(journal->journal.has_work_left());
    }
    EXPECT_FALSE(shown("a").end);
    EXPECT_EQ(journal->journal.counts().reaps, 0U) << "what did not happen is not counted";
    mend_disk();

    const auto step = journal->tick(at(30));

    EXPECT_FALSE(step.failed);
    ASSERT_EQ(step.automatic().size(), 1U);
    EXPECT_EQ(shown("a").end->reason, Reason::reaped);
    EXPECT_EQ(shown("a").end->ended_before, at(30).wall);
    EXPECT_EQ(journal->journal.counts().reaps, 1U);
}

TEST_F(OnFailingDisk, ALateBeatSavesALeaseThatCouldNotBeReaped) {
    journal->one(create("a", lease_owner(10s)), at(0));
    break_disk();
    journal->tick(at(15));
    EXPECT_TRUE(journal->one(beat("a"), at(16)));
    mend_disk();
    journal->tick(at(20));

    EXPECT_FALSE(shown("a").end);
}

TEST_F(OnFailingDisk, ADeathIsRecordedOnceTheDiskWorksAgain) {
    std::vector<Input> inputs;
    for (int i = 0; i < 5; ++i)
        inputs.emplace_back(create(fmt::format("s{}", i), process_owner(5)));
    journal->group(std::move(inputs), at(0));
    break_disk();

    // Said once: an owner does not die twice.
    EXPECT_TRUE(journal->step({gone(5, signaled(SIGKILL))}, at(1)).failed);
    EXPECT_TRUE(journal->tick(at(2)).failed);
    EXPECT_EQ(journal->state.open_count(), 5U);
    mend_disk();
    journal->tick(at(3));

    EXPECT_EQ(journal->state.open_count(), 0U);
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(shown(fmt::format("s{}", i)).end->reason, Reason::signaled);
}

TEST_F(OnFailingDisk, AnOwnerMayComeBackUnderFireAndStillOwnNothing) {
    // Parked while the disk fails: taken back, then parked when it works.
    auto parking = create("a", process_owner(5));
    parking.draft.on_owner_loss = OnOwnerLoss::park;
    parking.draft.park_window = 10s;
    journal->one(parking, at(0));
    break_disk();
    journal->step({gone(5, exited(0))}, at(1));
    EXPECT_FALSE(shown("a").parked_since);
    mend_disk();
    journal->tick(at(2));
    EXPECT_EQ(shown("a").parked_since, at(2).wall);
    journal->tick(at(13));

    EXPECT_EQ(shown("a").end->reason, Reason::owner_lost);
}

TEST_F(OnFailingDisk, ACrowdThatFallsDueMeanwhileIsHeldAfterwards) {
    std::vector<Input> inputs;
    for (int i = 0; i < 30; ++i)
        inputs.emplace_back(create(fmt::format("l{}", i), lease_owner(10s)));
    journal->group(std::move(inputs), at(0));
    break_disk();
    for (int second = 11; second < 20; ++second) journal->tick(at(second));
    mend_disk();

    journal->tick(at(20));

    EXPECT_EQ(journal->state.count(Status::unknown), 30U);
}

TEST_F(OnFailingDisk, SignsOfLifeAreSavedOnceItWorks) {
    journal->one(create("a", lease_owner(3600s)), at(0));
    journal->one(beat("a"), at(30));
    break_disk();
    EXPECT_TRUE(journal->tick(at(61)).failed);
    EXPECT_TRUE(journal->tick(at(62)).failed);
    mend_disk();
    journal->state.set_watched_until(at(62).boot);
    EXPECT_FALSE(journal->tick(at(63)).failed);

    EXPECT_EQ(shown("a").last_seen_at, at(30).wall);
    EXPECT_EQ(store->heads()->last_word->at, at(62).wall);
}

}  // namespace
}  // namespace knell::testing
