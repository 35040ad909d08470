// A daemon with a hook, a webhook and a follower is killed at random moments under load.  Each of
// the three hears every event: in order for its session, and twice only under the same id.

#include <atomic>
#include <map>
#include <random>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "functional/harness/following.hpp"
#include "functional/harness/hooks.hpp"
#include "functional/harness/receiver.hpp"
#include "functional/harness/seed.hpp"

namespace knell::functional::crash {
namespace {

constexpr int kills = 12;
constexpr int workers = 3;
constexpr const char* secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";

/// Sessions that live and die until the daemon is gone.
void live_until_killed(Client client, const std::string& name, std::atomic<int>& answers) {
    for (int i = 0;; ++i) {
        const auto id = fmt::format("{}-{}", name, i);
        const auto call = [&](const char* method, const std::string& params) {
            const bool answered = client.try_call(method, params).has_value();
            ++answers;
            answers.notify_all();
            return answered;
        };
        const auto own = fmt::format(R"({{"session_id":"{}","generation":1}})", id);
        if (!call("session.create", fmt::format(R"({{"id":"{}","source":"cli"}})", id))) return;
        if (!call("turn.start", own) || !call("turn.end", own) || !call("session.close", own))
            return;
    }
}

/// What one subscriber was told: events by id, sessions in order.
class Hearing {
  public:
    void hear(const Json& event) {
        const auto id = text(event, "id");
        const auto seq = number(event, "seq");
        if (const auto known = by_id_.find(id); known != by_id_.end()) {
            EXPECT_EQ(known->second, seq) << id << " is two events";
            return;
        }
        by_id_.emplace(id, seq);
        auto& newest = newest_[text(event, "session_id")];
        EXPECT_LT(newest, seq) << id << " came after a later event of its session";
        newest = seq;
    }
    bool has(const std::string& id) const { return by_id_.contains(id); }

  private:
    std::map<std::string, std::int64_t> by_id_;
    std::map<std::string, std::int64_t> newest_;
};

class Subscribers : public WithHooks {
  protected:
    void SetUp() override {
        if (const auto why_not = why_no_receiver()) GTEST_SKIP() << *why_not;
        receiver_.emplace(secret);
        write_file(home.file("secret"), secret);
        chmod(home.file("secret").c_str(), 0600);
        write_file(home.file("config.yaml"),
                   fmt::format("webhooks:\n  - name: web\n    url: {}\n    secret_file: secret\n"
                               "    concurrency: 4\n",
                               receiver_->url("/hook")));
        write_hook(home, "ops", "cat >> heard", "\"*\"", "concurrency: 2");
        wait_until_known("ops");
        wait_until_known("web");
        started_at_ = number(client.must("node.status"), "events.last_seq");
        follower_.emplace(
            home, std::vector<std::string>{"--json", "--after", std::to_string(started_at_)});
    }

    void kill_under_load() {
        std::atomic<int> answers{0};
        std::vector<std::jthread> threads;
        for (int i = 0; i < workers; ++i) {
            threads.emplace_back([&answers, name = fmt::format("r{}w{}", round_, i),
                                  its = Client(home.socket())]() mutable {
                live_until_killed(std::move(its), name, answers);
            });
        }
        ++round_;
        const int enough = 20 + static_cast<int>(random_() % 60);
        for (int seen = answers; seen < enough; seen = answers) answers.wait(seen);
        daemon.kill9();
    }

    const std::uint64_t seed_ = choose_seed();
    std::mt19937_64 random_{seed_};
    std::optional<Receiver> receiver_;
    std::optional<Following> follower_;
    std::int64_t started_at_ = 0;
    int round_ = 0;
};

TEST_F(Subscribers, HearEverythingThroughCrashes) {
    SCOPED_TRACE(fmt::format("repeat with KNELL_TEST_SEED={}", seed_));
    Hearing followed;
    std::int64_t last_followed = started_at_;
    for (int i = 0; i < kills; ++i) {
        kill_under_load();
        daemon.start();
        reconnect();
        const auto last = number(client.must("node.status"), "events.last_seq");
        while (last_followed < last) {
            const auto event = parse(follower_->line());
            EXPECT_EQ(number(event, "seq"), ++last_followed) << "a follower hears each event once";
            followed.hear(event);
        }
    }
    for (const auto* name : {"ops", "web"}) {
        until([&] { return number(row(name), "lag") == 0 && number(row(name), "waiting") == 0; },
              "all to be delivered");
    }

    Hearing hooked;
    for (const auto& event : heard("ops")) hooked.hear(event);
    std::set<std::string> missing;
    const auto events = all_events(client);
    for (const auto& event : events) {
        const auto id = text(event, "id");
        if (number(event, "seq") <= started_at_) continue;
        EXPECT_TRUE(hooked.has(id)) << "the hook missed " << id;
        missing.insert(id);
    }
    EXPECT_GT(missing.size(), 200U);
    Hearing sent;
    while (!missing.empty()) {
        const auto request = receiver_->next();
        ASSERT_EQ(at(request, "ok"), Json(true)) << text(request, "error");
        sent.hear(at(request, "data"));
        missing.erase(text(request, "id"));
    }
}

}  // namespace
}  // namespace knell::functional::crash
