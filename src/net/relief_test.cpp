#include "net/relief.hpp"

#include <map>
#include <memory>

#include <gtest/gtest.h>

namespace knell::net {
namespace {

/// A client that leaves so much unread.
struct FakeClient {
    FakeClient(MemoryBudget& budget, std::size_t unread, std::uint64_t taken)
        : share(budget), last(taken) {
        share.set(unread);
    }
    std::size_t bytes_unsent() const { return share.held(); }
    std::uint64_t last_taken() const { return last; }
    std::size_t bytes_half_read() const { return share.held(); }

    BudgetShare share;
    std::uint64_t last;
};

class ReliefTest : public ::testing::Test {
  protected:
    FakeClient* add(std::size_t unread, std::uint64_t taken) {
        auto client = std::make_shared<FakeClient>(budget, unread, taken);
        clients.emplace(client.get(), client);
        return client.get();
    }
    void relieve_all() {
        relieve(
            budget, clients, [](const auto& all) { return worst_taker(all); },
            [](FakeClient& client) { client.share.set(0); });
    }

    MemoryBudget budget{1000, [] {}};
    std::map<FakeClient*, std::shared_ptr<FakeClient>> clients;
};

TEST_F(ReliefTest, WhoReadsKeepsItsOwnWhileOthersDoNot) {
    const auto* honest = add(400, /*taken=*/99);
    const auto* deaf = add(300, /*taken=*/1);
    const auto* deaf_too = add(300, /*taken=*/2);
    const auto* last = add(300, /*taken=*/3);

    relieve_all();

    EXPECT_EQ(honest->bytes_unsent(), 400U) << "it holds the most, and takes it";
    EXPECT_EQ(deaf->bytes_unsent(), 0U);
    EXPECT_EQ(deaf_too->bytes_unsent(), 300U) << "one was enough";
    EXPECT_EQ(last->bytes_unsent(), 300U);
}

TEST_F(ReliefTest, WhoHoldsLittleIsNotWorthIt) {
    const auto* little = add(10, /*taken=*/1);
    const auto* much = add(1200, /*taken=*/2);

    relieve_all();

    EXPECT_EQ(little->bytes_unsent(), 10U);
    EXPECT_EQ(much->bytes_unsent(), 0U);
}

TEST_F(ReliefTest, EndsWhereNobodyCanGiveUpAnything) {
    budget.change(0, 2000);
    relieve_all();
    const auto* one = add(0, 1);
    relieve_all();
    EXPECT_EQ(one->bytes_unsent(), 0U);
    EXPECT_TRUE(budget.is_exceeded());
}

TEST_F(ReliefTest, OfHalfReadLinesTheLongestGoes) {
    add(10, 1);
    const auto* most = add(20, 2);
    EXPECT_EQ(most_half_read(clients), most);
}

}  // namespace
}  // namespace knell::net
