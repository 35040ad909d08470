// A daemon under concurrent load is killed at two hundred random moments.  After each restart every
// acknowledged call is there, and no half of any.

#include <random>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "functional/crash/audit.hpp"
#include "functional/crash/load.hpp"
#include "functional/harness/dither.hpp"
#include "functional/harness/fixture.hpp"
#include "functional/harness/seed.hpp"

namespace knell::functional::crash {
namespace {

constexpr int kills = 200;
constexpr int full_audit_every = 20;
constexpr int worker_count = 6;

class TwoHundredKills : public testing::Test {
  protected:
    TwoHundredKills() : seed_(choose_seed()), random_(seed_) {
        for (int i = 0; i < worker_count; ++i) {
            workers_.push_back(std::make_unique<Worker>(fmt::format("w{}", i), random_()));
        }
        Client(home_.socket())
            .must("session.create", fmt::format(R"({{"id":"{}","source":"cli"}})", shared_session));
    }

    /// Lets the workers loose on the daemon, and kills it after a random number of answers.
    void kill_under_load() {
        std::atomic<std::int64_t> answers{0};
        std::vector<std::jthread> threads;
        for (auto& worker : workers_) {
            threads.emplace_back(
                [&answers, &worker = *worker, client = Client(home_.socket())]() mutable {
                    worker.run(std::move(client), answers);
                });
        }
        const auto enough = static_cast<std::int64_t>(random_() % 200);
        for (auto seen = answers.load(); seen < enough; seen = answers.load()) answers.wait(seen);
        dither(random_() % 1'000'000);
        daemon_.kill9();
    }

    /// Sometimes it is killed once more while it is still getting up.
    void start_again() {
        while (random_() % 6 == 0) {
            daemon_.launch();
            dither(random_() % 20'000'000);
            daemon_.kill9();
            ++killed_;
        }
        daemon_.start();
    }

    void audit(bool full) {
        Client client(home_.socket());
        audit_.read_new_events(client);
        for (auto& worker : workers_) {
            auto touched = worker->take_touched();
            if (full) {
                for (const auto& [id, tracked] : worker->sessions()) touched.insert(id);
            }
            for (const auto& id : touched) audit_.check_session(client, id, worker->sessions()[id]);
            audit_.check_shared(worker->taken_over());
            for (const auto& what : worker->surprises()) ADD_FAILURE() << what;
        }
        if (full) audit_.reread_events(client);
        for (const auto& what : audit_.finds()) ADD_FAILURE() << what;
    }

    const std::uint64_t seed_;
    std::mt19937_64 random_;
    TempHome home_;
    Daemon daemon_{home_};
    std::vector<std::unique_ptr<Worker>> workers_;
    Audit audit_;
    int killed_ = 0;
};

TEST_F(TwoHundredKills, LoseNothingThatWasAcknowledgedAndLeaveNoHalves) {
    SCOPED_TRACE(fmt::format("repeat with KNELL_TEST_SEED={}", seed_));
    int audits = 0;
    while (killed_ < kills && !HasFailure()) {
        kill_under_load();
        ++killed_;
        start_again();
        audit(/*full=*/++audits % full_audit_every == 0);
    }
    ASSERT_FALSE(HasFailure()) << "after " << killed_ << " kills";
    audit(/*full=*/true);

    std::size_t sessions = 0;
    for (const auto& worker : workers_) sessions += worker->sessions().size();
    EXPECT_GT(sessions, 200U);
    EXPECT_GT(audit_.event_count(), 1000U);
}

}  // namespace
}  // namespace knell::functional::crash
