// One writer: whatever races, one claim wins and one end is told.

#include <csignal>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;

class OneWriter : public WithOwners {
  protected:
    /// A call that is sent and not waited for.
    struct Caller {
        explicit Caller(const std::string& socket) : client(socket) {}
        void say(std::string_view method, const std::string& params) {
            client.send(fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}})"
                                    "\n",
                                    method, params));
        }
        Client client;
    };
    std::vector<Caller> callers(int count) {
        std::vector<Caller> all;
        for (int i = 0; i < count; ++i) all.emplace_back(home.socket());
        return all;
    }
    std::size_t ends_of(const std::string& id, std::int64_t generation) {
        const auto events = client.must(
            "events.read", fmt::format(R"({{"session_id":"{}","types":["session:end"]}})", id));
        std::size_t ends = 0;
        for (const auto& event : array(events, "events")) {
            ends += number(event, "generation") == generation ? 1U : 0U;
        }
        return ends;
    }
};

TEST_F(OneWriter, AParkedSessionTakesNoWriteAndSaysHowToClaimIt) {
    auto owner = idle_process();
    own("s", owner.pid(), R"("on_owner_loss":"park","park_s":600)");
    owner.signal(SIGKILL);
    until([&] { return text(show("s"), "status") == "detached"; }, "the session to be parked");

    const auto refused = client.call(
        "session.append",
        R"({"session_id":"s","generation":1,"messages":[{"role":"user","content":"hello"}]})");
    EXPECT_EQ(refused.code(), -32004);
    EXPECT_EQ(text(refused.whole, "error.data.status"), "detached");
    EXPECT_EQ(text(refused.whole, "error.data.offers.0"), "session.resume");
    EXPECT_THAT(refused.message(), HasSubstr("claim it with session.resume"));
    const auto turn = client.call("turn.start", R"({"session_id":"s","generation":1})");
    EXPECT_EQ(turn.code(), -32004);
    EXPECT_EQ(text(show("s"), "status"), "detached");
}

TEST_F(OneWriter, AFormerOwnerDoesNotCloseTheNextGenerationByMistake) {
    // The test itself is the first owner.
    client.must("session.create", R"({"id":"s","source":"cli"})");
    auto next = idle_process();
    client.must(
        "session.resume",
        fmt::format(R"({{"session_id":"s","takeover":true,"owner":{{"pid":{}}}}})", next.pid()));

    const auto refused = client.call("session.close", R"({"session_id":"s"})");
    EXPECT_EQ(refused.code(), -32003);
    EXPECT_EQ(number(refused.whole, "error.data.generation"), 2);
    EXPECT_NE(text(show("s"), "status"), "ended");

    EXPECT_EQ(home.knell({"end", "s", "--yes"}).status, 0) << "a person may";
    EXPECT_EQ(text(show("s"), "status"), "ended");
}

TEST_F(OneWriter, AClaimThatALivingOwnerDiedIsDeclaredNotObserved) {
    auto owner = idle_process();
    for (const auto* reason : {"oom_killed", "owner_lost", "signaled", "exited"}) {
        own(reason, owner.pid());
        client.must("session.close",
                    fmt::format(R"({{"session_id":"{0}","reason":"{0}"}})", reason));
        EXPECT_EQ(text(show(reason), "proof"), "declared");
        EXPECT_THAT(text(show(reason), "evidence"), HasSubstr("session.close by process"));
    }
    const auto status = client.must("node.status");
    EXPECT_EQ(number(status, "ended.day.by_proof.declared"), 4);
}

TEST_F(OneWriter, ResumeWhileTheOriginalLivesIsRefusedWithWhoWhereSinceAndHowKnown) {
    auto original = idle_process();
    own("s", original.pid());
    client.must("session.create", R"({"id":"l","source":"cli","owner":{"lease_ttl_s":60}})");

    const auto refused = client.call("session.resume", R"({"session_id":"s"})");
    EXPECT_EQ(refused.code(), -32002);
    EXPECT_EQ(number(refused.whole, "error.data.owner.pid"), original.pid());
    EXPECT_NE(text(refused.whole, "error.data.owner.host"), "");
    EXPECT_NE(text(refused.whole, "error.data.owner.since"), "");
    EXPECT_EQ(text(refused.whole, "error.data.how_known"), "its process is watched");
    EXPECT_THAT(refused.message(), HasSubstr("take it over"));
    EXPECT_EQ(text(refused.whole, "error.data.offers.0"), "takeover");
    const auto leased = client.call("session.resume", R"({"session_id":"l"})");
    EXPECT_THAT(text(leased.whole, "error.data.how_known"), HasSubstr("its lease was renewed at"));

    original.signal(SIGKILL);
    ended("s");
    EXPECT_EQ(number(client.must("session.resume", R"({"session_id":"s"})"), "generation"), 2);
}

TEST_F(OneWriter, OfRacingResumesOfAnEndedSessionOneWins) {
    for (int round = 0; round < 10; ++round) {
        const auto id = fmt::format("s{}", round);
        auto owner = idle_process();
        own(id, owner.pid());
        client.must("session.close", fmt::format(R"({{"session_id":"{}"}})", id));
        auto racers = callers(8);
        for (auto& racer : racers)
            racer.say("session.resume", fmt::format(R"({{"session_id":"{}"}})", id));

        int won = 0;
        for (auto& racer : racers) {
            const auto answer = racer.client.read_answer();
            won += answer.ok() ? 1 : 0;
            if (!answer.ok()) {
                EXPECT_EQ(answer.kind(), "owned");
            }
        }
        EXPECT_EQ(won, 1);
        EXPECT_EQ(number(show(id), "generation"), 2);
    }
}

TEST_F(OneWriter, RacingTakeoversEachGetAGenerationAndOnlyTheLastMayWrite) {
    auto owner = idle_process();
    own("s", owner.pid());
    auto racers = callers(20);
    for (auto& racer : racers) {
        racer.say("session.resume",
                  R"({"session_id":"s","takeover":true,"owner":{"lease_ttl_s":60}})");
    }

    std::set<std::int64_t> generations;
    for (auto& racer : racers) {
        generations.insert(number(racer.client.read_answer().result(), "generation"));
    }

    EXPECT_EQ(generations.size(), 20U);
    EXPECT_EQ(*generations.begin(), 2);
    EXPECT_EQ(*generations.rbegin(), 21);
    for (std::int64_t generation = 1; generation <= 21; ++generation) {
        const auto answer = client.call(
            "session.append",
            fmt::format(
                R"({{"session_id":"s","generation":{},"messages":[{{"role":"user","content":"x"}}]}})",
                generation));
        EXPECT_EQ(answer.ok(), generation == 21) << generation;
        if (!answer.ok()) {
            EXPECT_EQ(answer.kind(), "fenced");
        }
        EXPECT_EQ(ends_of("s", generation), generation == 21 ? 0U : 1U) << generation;
    }
    // The first owner's death is nobody's concern any more.
    owner.signal(SIGKILL);
    let_observers_speak();
    EXPECT_TRUE(is_open("s"));
}

TEST_F(OneWriter, TwentyReapersACloseAndATakeoverEndASessionOnce) {
    for (int round = 0; round < 25; ++round) {
        const auto id = fmt::format("s{}", round);
        auto owner = idle_process();
        own(id, owner.pid());
        auto racers = callers(22);
        const bool close_first = round % 2 == 0;
        for (int i = 0; i < 20; ++i) {
            if (i == 5) owner.signal(SIGKILL);
            if (i == 10) owner.wait();
            racers[static_cast<std::size_t>(i)].say("node.sweep", "{}");
            if (i == 4 + round % 8 && close_first) {
                racers[20].say("session.close",
                               fmt::format(R"({{"session_id":"{}","generation":1}})", id));
            }
        }
        if (!close_first) {
            racers[20].say("session.close",
                           fmt::format(R"({{"session_id":"{}","generation":1}})", id));
        }
        racers[21].say(
            "session.resume",
            fmt::format(R"({{"session_id":"{}","takeover":true,"owner":{{"lease_ttl_s":600}}}})",
                        id));
        for (int i = 0; i < 20; ++i)
            EXPECT_TRUE(racers[static_cast<std::size_t>(i)].client.read_answer().ok());
        const auto closed = racers[20].client.read_answer();
        if (!closed.ok()) {
            EXPECT_EQ(closed.kind(), "fenced");
        }
        EXPECT_TRUE(racers[21].client.read_answer().ok()) << "a takeover is never lost";

        EXPECT_EQ(ends_of(id, 1), 1U);
        EXPECT_EQ(number(show(id), "generation"), 2);
        EXPECT_EQ(ends_of(id, 2), 0U) << "the new owner is alive";
    }
}

TEST_F(OneWriter, SweepsDoNotWeakenWhatTheWatchKnows) {
    for (int round = 0; round < 20; ++round) {
        Puppet owner;
        const auto id = fmt::format("s{}", round);
        own(id, owner.pid());
        auto racers = callers(5);
        owner.tell("exit 3");
        owner.wait();
        for (auto& racer : racers) racer.say("node.sweep", "{}");
        for (auto& racer : racers) racer.client.read_answer();

        expect_end_of_reaped(id, "exited", "exit 3");
    }
}

TEST_F(OneWriter, ADrySweepEndsNothing) {
    auto owner = idle_process();
    own("s", owner.pid());
    client.must("session.create", R"({"id":"l","source":"cli","owner":{"lease_ttl_s":60}})");

    const auto report = client.must("node.sweep", R"({"dry_run":true})");

    EXPECT_EQ(number(report, "ended_count"), 0);
    EXPECT_EQ(number(report, "left_alone_count"), 2);
    EXPECT_EQ(text(report, "left_alone.0.session_id"), "s");
    EXPECT_EQ(text(report, "left_alone.0.verdict"), "alive");
    EXPECT_EQ(number(report, "leases.count"), 1);
    EXPECT_TRUE(at(report, "next").is_null());
}

TEST_F(OneWriter, ASweepNamesEverySessionInPages) {
    constexpr int count = 2'100;
    std::string creates;
    for (int i = 0; i < count; ++i) {
        creates += fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"session.create",)"
                               R"("params":{{"id":"s{}","source":"cli"}}}})"
                               "\n",
                               i);
    }
    ASSERT_TRUE(client.send(creates));
    for (int i = 0; i < count; ++i) ASSERT_TRUE(client.read_answer().ok());

    std::set<std::string> named;
    std::int64_t after = 0;
    int pages = 0;
    do {
        const auto page =
            client.must("node.sweep", fmt::format(R"({{"dry_run":true,"after":{}}})", after));
        EXPECT_EQ(number(page, "left_alone_count"), count);
        for (const auto& session : array(page, "left_alone")) {
            EXPECT_TRUE(named.insert(text(session, "session_id")).second) << "named twice";
        }
        after = at(page, "next").is_null() ? 0 : number(page, "next");
        ++pages;
    } while (after > 0);

    EXPECT_EQ(pages, 3);
    EXPECT_EQ(named.size(), static_cast<std::size_t>(count));
    const auto reap = parse(home.knell({"reap", "--dry-run", "--json"}).out);
    EXPECT_EQ(array(reap, "left_alone").size(), static_cast<std::size_t>(count));
    EXPECT_TRUE(at(reap, "next").is_null());
}

}  // namespace
}  // namespace knell::functional
