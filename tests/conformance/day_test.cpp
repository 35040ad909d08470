// A day in the life of a node: every kind of start and end, at random, with restarts in between.
// Starts minus ends equals what is open, at every moment.

#include <csignal>
#include <map>
#include <random>
#include <set>

#include <fmt/format.h>

#include "core/end_path.hpp"
#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t day_s = 24 * 3600;

class Day : public StoreStory {
  protected:
    /// Takes in what the log tells since the last look.
    void listen() {
        for (;;) {
            const auto page = reader().events({.after = heard_to_, .limit = 1000}).value();
            for (const auto& event : page.events) hear(event);
            if (page.events.empty()) return;
            heard_to_ = page.events.back().seq;
        }
    }

    void hear(const Event& event) {
        if (event.type == EventType::session_start) {
            EXPECT_TRUE(open_.emplace(event.session_id.text(), event.generation).second)
                << event.session_id.text() << " started while it was open";
        }
        if (event.type == EventType::session_end) {
            const auto found = open_.find(event.session_id.text());
            ASSERT_NE(found, open_.end()) << event.session_id.text() << " ended twice";
            EXPECT_EQ(found->second, event.generation);
            open_.erase(found);
            reasons_.insert(event.end->reason);
        }
    }

    /// One of the things that happen in a day.
    Input something(std::int64_t second) {
        const auto dice = random_() % 30;
        if (open_.size() < 5 || dice < 7) return new_one(second);
        if (dice >= 20 && dice < 28) return for_a_key(dice);
        const auto& [id, generation] =
            *std::next(open_.begin(), static_cast<std::ptrdiff_t>(random_() % open_.size()));
        switch (dice) {
            case 7:
            case 8:
                return close(id, generation);
            case 9: {
                auto taken = resume(id, /*takeover=*/true);
                taken.owner = process_owner(next_pid_++);
                return taken;
            }
            case 10:
                return turn(id, generation, random_() % 2 == 0);
            case 11:
                return append(id, generation, {"hello"});
            case 12:
                return resume(id);
            case 13:
                return close(id, generation + 1);
            case 14:
                return beat(id, generation);
            case 28:
                return branch(id, generation, fmt::format("s{}", ++last_id_), random_() % 2 == 0);
            case 29:
                return compress(id, generation, fmt::format("s{}", ++last_id_), "all", 0);
            default:
                return departure_of_somebody();
        }
    }

    /// Something that a gateway says, which lives all day.
    Input for_a_key(std::size_t dice) {
        const auto number = static_cast<int>(random_() % 5);
        const auto key = fmt::format("k{}", number);
        if (dice == 26) return reset(key);
        if (dice == 27) return suspend(key);
        return route(key, fmt::format("s{}", ++last_id_), 500 + number);
    }
    void set_policies() {
        ResetPolicy policy;
        policy.mode = ResetMode::both;
        policy.idle = 10min;
        policy.at = 12h;
        journal().state.set_reset_policies(
            std::make_shared<const ResetPolicies>(policy, std::vector<ResetOverride>{}));
    }

    Input new_one(std::int64_t second) {
        const auto id = fmt::format("s{}", ++last_id_);
        const auto kind = random_() % 5;
        if (kind == 4) return create(id, hosted_owner(60s));
        auto opened = create(id, kind == 0 ? lease_owner(std::chrono::seconds{10 + second % 50})
                                           : process_owner(next_pid_++));
        if (kind == 1) {
            opened.draft.on_owner_loss = OnOwnerLoss::park;
            opened.draft.park_window = 120s;
        }
        if (kind == 2 && random_() % 2 == 0) {
            opened.draft.leftovers = LeftoversPolicy::report;
        }
        if (random_() % 25 == 0) opened.and_close = close(id);
        return opened;
    }

    Input departure_of_somebody() {
        const auto pid =
            1000 + static_cast<int>(random_() % static_cast<unsigned>(next_pid_ - 1000 + 1));
        constexpr std::array kinds{Departure::Kind::exited,       Departure::Kind::signaled,
                                   Departure::Kind::oom_killed,   Departure::Kind::lost,
                                   Departure::Kind::host_restart, Departure::Kind::stopped};
        auto left = gone(pid, {.kind = kinds.at(random_() % kinds.size()),
                               .number = static_cast<int>(random_() % 2),
                               .evidence = "seen by the test"});
        if (random_() % 2 == 0) left.departure = watched_to_the_end(left.departure);
        left.searched = true;
        return left;
    }

    std::mt19937 random_{20261115};
    std::map<std::string, Generation> open_;
    std::set<Reason> reasons_;
    Seq heard_to_ = 0;
    int last_id_ = 0;
    int next_pid_ = 1000;
};
INSTANTIATE_TEST_SUITE_P(EveryStore, Day, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(Day, StartsMinusEndsIsWhatIsOpenAtEveryMoment) {
    for (std::int64_t second = 0; second < day_s;
         second += 1 + static_cast<std::int64_t>(random_() % 60)) {
        if (random_() % 200 == 0) restart(at(second));
        set_policies();
        std::vector<Input> inputs;
        for (auto count = random_() % 4; count > 0; --count) inputs.push_back(something(second));
        journal().step(std::move(inputs), at(second));
        listen();
        ASSERT_EQ(open_.size(), journal().state.open_count()) << "at second " << second;
    }
    // Each reason that this daemon can find by itself was among them.
    for (const auto& row : end_path_table) {
        if (row.reason) {
            EXPECT_TRUE(reasons_.contains(*row.reason)) << row.name;
        }
    }
    EXPECT_GT(last_id_, 500);
}

}  // namespace
}  // namespace knell::testing
