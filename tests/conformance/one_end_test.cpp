// Twenty observers, a close and a takeover about one session: one end, one event.

#include <csignal>
#include <random>

#include <fmt/format.h>

#include "stores.hpp"

namespace knell::testing {
namespace {

class OneEnd : public StoreStory {
  protected:
    /// What everybody has to say about session `id` of process `pid`, in an order of its own.
    static std::vector<Input> everybody(const std::string& id, int pid, std::mt19937& random,
                                        bool takeover) {
        std::vector<Input> inputs;
        for (int i = 0; i < 20; ++i) {
            inputs.emplace_back(gone(pid, i % 3 == 0 ? signaled(SIGKILL) : lost()));
        }
        inputs.emplace_back(close(id));
        inputs.emplace_back(close(id, 1));
        if (takeover) inputs.emplace_back(resume(id, /*takeover=*/true));
        std::ranges::shuffle(inputs, random);
        return inputs;
    }
    std::size_t ends_of(const std::string& id, Generation generation) {
        std::size_t ends = 0;
        for (const auto& event : told(EventType::session_end)) {
            ends += event.session_id.text() == id && event.generation == generation ? 1U : 0U;
        }
        return ends;
    }
};
INSTANTIATE_TEST_SUITE_P(EveryStore, OneEnd, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(OneEnd, InOneGroup) {
    std::mt19937 random(1);
    for (int round = 0; round < 30; ++round) {
        const auto id = fmt::format("s{}", round);
        const int pid = 1000 + round;
        journal().one(create(id, process_owner(pid)), at(round));

        const auto replies = journal().group(everybody(id, pid, random, false), at(round));

        for (const auto& reply : replies) EXPECT_TRUE(reply) << reply.error().message;
        EXPECT_EQ(ends_of(id, 1), 1U);
    }
    EXPECT_EQ(journal().state.open_count(), 0U);
}

TEST_P(OneEnd, WithATakeoverAmongThem) {
    std::mt19937 random(2);
    for (int round = 0; round < 30; ++round) {
        const auto id = fmt::format("s{}", round);
        const int pid = 1000 + round;
        journal().one(create(id, process_owner(pid)), at(round));

        journal().group(everybody(id, pid, random, true), at(round));

        EXPECT_EQ(ends_of(id, 1), 1U);
        EXPECT_LE(ends_of(id, 2), 1U);
        EXPECT_EQ(shown(id).generation, 2U)
            << "a takeover is never lost: it resumes what had ended";
    }
}

TEST_P(OneEnd, InManyGroups) {
    std::mt19937 random(3);
    for (int round = 0; round < 15; ++round) {
        const auto id = fmt::format("s{}", round);
        const int pid = 1000 + round;
        journal().one(create(id, process_owner(pid)), at(round));
        auto inputs = everybody(id, pid, random, round % 2 == 0);
        while (!inputs.empty()) {
            const auto size = std::min<std::size_t>(1 + random() % 5, inputs.size());
            std::vector<Input> some(
                std::make_move_iterator(inputs.begin()),
                std::make_move_iterator(inputs.begin() + static_cast<std::ptrdiff_t>(size)));
            inputs.erase(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(size));
            journal().group(std::move(some), at(round));
        }
        EXPECT_EQ(ends_of(id, 1), 1U);
    }
}

TEST_P(OneEnd, ALeaseThatFallsDueAsItIsClosedAndTakenOver) {
    auto taken = resume("a", /*takeover=*/true);
    taken.owner = lease_owner(std::chrono::seconds{10});
    journal().one(create("a", lease_owner(std::chrono::seconds{10})), at(0));

    // All in the step in which it falls due: what is said comes before what time says.
    journal().group({close("a", 1), taken, close("a", 1)}, at(11));

    EXPECT_EQ(ends_of("a", 1), 1U);
    EXPECT_EQ(shown("a").generation, 2U);
    EXPECT_FALSE(shown("a").end);
    journal().tick(at(22));
    EXPECT_EQ(ends_of("a", 2), 1U);
}

TEST_P(OneEnd, RacingTakeoversGetAGenerationEach) {
    journal().one(create("a"), at(0));
    std::vector<Input> inputs;
    for (int i = 0; i < 20; ++i) {
        auto taken = resume("a", /*takeover=*/true);
        taken.owner = process_owner(300 + i);
        inputs.emplace_back(std::move(taken));
    }
    const auto replies = journal().group(std::move(inputs), at(1));

    Generation expected = 1;
    for (const auto& reply : replies) {
        ASSERT_TRUE(reply);
        EXPECT_EQ(std::get<OpenedReply>(*reply).generation, ++expected);
    }
    EXPECT_EQ(shown("a").owner.process.pid, 319);
    for (Generation generation = 1; generation < 21; ++generation) {
        EXPECT_EQ(ends_of("a", generation), 1U);
        EXPECT_EQ(journal().one(append("a", generation, {"late"}), at(2)).error().code,
                  ErrorCode::fenced);
    }
}

}  // namespace
}  // namespace knell::testing
