#include "activity/classifier.hpp"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace knell {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr auto noon = from_millis(1'779'105'600'000);  // 18 May 2026, 12:00 UTC

/// A process that does something, and looks at it as often as the sampler would take them.
class Life {
  public:
    explicit Life(ActivityFacts last = {.activity = ProcessActivity::working, .since = noon},
                  const ActivityRules& rules = {})
        : classifier(rules, std::move(last)) {
        seen.sight = TreeSample::Sight::seen;
        seen.members = {{.pid = 100, .start_ticks = 1}};
        seen.sockets.emplace();
    }

    /// Second by second; `act` does what it does in one.
    void live(std::chrono::seconds duration, const std::function<void(Life&)>& act = {}) {
        for (auto second = 0s; second < duration; ++second) {
            if (now.steady >= next_look) look();
            now.steady += 1s;
            now.boot += 1s;
            now.wall += 1s;
            if (act) act(*this);
        }
        look();
    }
    void look() {
        auto sample = seen;
        sample.cpu = sample.cpu / 10ms * 10ms;  // the kernel counts in ticks
        const auto before = classifier.facts().activity;
        classifier.look(sample, now);
        changes += classifier.facts().activity != before ? 1 : 0;
        every = classifier.is_idle() && classifier.is_still() ? std::min(every * 2, 30s) : 2s;
        next_look = now.steady + every;
    }

    void listen(const std::string& address) { seen.sockets->listens.push_back(address); }
    std::uint64_t connect(std::uint64_t bytes = 0) {
        seen.sockets->connections.push_back({.mark = next_mark++,
                                             .bytes = bytes,
                                             .is_accepted = true,
                                             .is_open = true,
                                             .has_queue = false});
        return next_mark - 1;
    }
    void start_child() {
        seen.members.resize(1);
        seen.members.push_back({.pid = 101, .start_ticks = next_mark++});
    }
    std::chrono::seconds age() const {
        return std::chrono::duration_cast<std::chrono::seconds>(now.wall - noon);
    }
    bool is_every(std::chrono::seconds period) const { return age() % period == 0s; }

    ProcessActivity activity() const { return classifier.facts().activity; }
    const std::string& evidence() const { return classifier.facts().evidence; }

    TreeSample seen;
    Now now{.wall = noon, .steady = SteadyTime{1h}, .boot = SteadyTime{1h}};
    Classifier classifier;
    SteadyTime next_look{};
    std::chrono::seconds every{2};
    std::uint64_t next_mark = 1;
    int changes = 0;
    nanoseconds spare{0};  // CPU time below a millisecond
};

void use_cpu(Life& life, nanoseconds time) {
    life.spare += time;
    const auto whole = std::chrono::floor<std::chrono::milliseconds>(life.spare);
    life.spare -= whole;
    life.seen.cpu += whole;
}

struct Story {
    std::string name;
    ProcessActivity expected;
    std::string evidence;  // that is part of it
    std::function<void(Life&)> begin;
    std::function<void(Life&)> each_second;
};
void PrintTo(const Story& story, std::ostream* out) {
    *out << story.name;
}

const auto nothing = [](Life&) {};
const auto listens = [](Life& life) { life.listen("127.0.0.1:8765"); };

const std::vector<Story> stories{
    {"an http.server that polls", ProcessActivity::listening,
     "no CPU for 10 min, listens on 127.0.0.1:8765, no connection since 12:00 UTC", listens,
     [](Life& life) { use_cpu(life, 70us); }},
    {"an idle node", ProcessActivity::listening, "0.3 % of a core for 10 min, listens", listens,
     [](Life& life) { use_cpu(life, 3ms); }},
    {"a busy dd", ProcessActivity::working, "used 100 % of a core in the last 1 min", nothing,
     [](Life& life) { use_cpu(life, 1s); }},
    {"one that fetches and waits", ProcessActivity::working, "used 2 % of a core", nothing,
     [](Life& life) { use_cpu(life, 20ms); }},
    {"a sleeper", ProcessActivity::waiting, "no CPU for 10 min, listens on nothing", nothing,
     nothing},
    {"a copy without much CPU", ProcessActivity::working, "read and wrote 6", nothing,
     [](Life& life) { life.seen.io_bytes += 100'000; }},
    {"a line of log every ten seconds", ProcessActivity::waiting, "no CPU", nothing,
     [](Life& life) {
         if (life.is_every(10s)) life.seen.io_bytes += 100;
     }},
    {"a loop that runs commands", ProcessActivity::working, "started 3", nothing,
     [](Life& life) {
         if (life.is_every(2s)) life.start_child();
     }},
    {"a check once a minute", ProcessActivity::waiting, "no CPU", nothing,
     [](Life& life) {
         if (life.is_every(30s)) life.start_child();
     }},
    {"a connection that is kept open", ProcessActivity::listening,
     "1 connection open, no traffic since",
     [](Life& life) {
         listens(life);
         life.connect();
     },
     [](Life& life) {
         if (life.is_every(30s)) life.seen.sockets->connections.front().bytes += 60;
     }},
    {"a streamed answer", ProcessActivity::working, "over its connections in the last 1 min",
     [](Life& life) {
         listens(life);
         life.connect();
     },
     [](Life& life) { life.seen.sockets->connections.front().bytes += 200; }},
    {"a health check", ProcessActivity::listening, "no CPU for 10 min, listens on 127.0.0.1:8765",
     listens,
     [](Life& life) {
         if (!life.is_every(30s)) return;
         life.seen.sockets->connections.clear();
         life.connect(100);
     }},
    {"visitors", ProcessActivity::working, "13 new connections in the last", listens,
     [](Life& life) {
         if (life.is_every(5s)) life.connect(50);
     }},
    {"one that hangs on a disk", ProcessActivity::working, "waits for a disk",
     [](Life& life) { life.seen.is_blocked = true; }, nothing},
    {"one that is denied the processor", ProcessActivity::working, "waits for the processor",
     [](Life& life) { life.seen.is_runnable = true; }, nothing},
    {"one that is awake by chance", ProcessActivity::waiting, "no CPU", nothing,
     [](Life& life) { life.seen.is_runnable = life.age() % 20s < 2s && life.age() % 2s == 0s; }},
    {"more processes than are looked at", ProcessActivity::working, "has more than 1 processes",
     [](Life& life) { life.seen.has_more_members = true; }, nothing},
    {"one that is stopped", ProcessActivity::waiting, "no CPU for 10 min, is stopped by a signal",
     [](Life& life) { life.seen.is_stopped = true; }, nothing},
    {"a shell at a terminal", ProcessActivity::waiting, "waits at terminal /dev/pts/3",
     [](Life& life) { life.seen.terminal = "/dev/pts/3"; }, nothing},
    {"one whose sockets are another user's", ProcessActivity::waiting,
     "no CPU for 10 min, sockets cannot be read: Permission denied",
     [](Life& life) {
         life.seen.sockets.reset();
         life.seen.unseen = {"sockets cannot be read: Permission denied"};
     },
     nothing},
    {"one that cannot be seen", ProcessActivity::working,
     "counts as working, because it cannot be seen: it is in another pid namespace",
     [](Life& life) {
         life.seen.sight = TreeSample::Sight::hidden;
         life.seen.unseen = {"it is in another pid namespace"};
     },
     nothing},
};

class Stories : public ::testing::TestWithParam<Story> {};

TEST_P(Stories, EndInTheirClass) {
    Life life;
    GetParam().begin(life);
    life.live(10min, GetParam().each_second);

    EXPECT_EQ(life.activity(), GetParam().expected) << life.evidence();
    EXPECT_THAT(life.evidence(), HasSubstr(GetParam().evidence));
    EXPECT_EQ(life.changes, GetParam().expected == ProcessActivity::working ? 0 : 1);
}

INSTANTIATE_TEST_SUITE_P(Classifier, Stories, ::testing::ValuesIn(stories),
                         [](const auto& row) { return "Row" + std::to_string(row.index); });

TEST(Classifier, SaysThatANewOneIsNew) {
    Life life;
    life.look();
    EXPECT_EQ(life.evidence(), "new; nothing seen yet");
    life.live(5s);
    EXPECT_EQ(life.evidence(), "nothing to speak of for 5 s, idle after 1 min");

    Life old;
    old.now.wall += 1h;  // it ran before this daemon did
    old.look();
    EXPECT_EQ(old.evidence(), "nothing seen yet");
}

TEST(Classifier, SaysNothingOfIdlenessBeforeItHasLookedForAMinute) {
    Life life;
    life.listen("127.0.0.1:80");
    life.live(58s);

    EXPECT_EQ(life.activity(), ProcessActivity::working);
    EXPECT_EQ(life.evidence(), "nothing to speak of for 58 s, idle after 1 min");
    EXPECT_EQ(life.classifier.facts().since, noon);

    life.live(2s);

    EXPECT_EQ(life.activity(), ProcessActivity::listening);
    EXPECT_EQ(life.classifier.facts().since, noon) << "it did nothing from the beginning";
}

TEST(Classifier, AServerIsIdleThenUnderLoadThenIdleAgain) {
    Life life;
    life.listen("127.0.0.1:8765");
    life.live(5min);
    ASSERT_EQ(life.activity(), ProcessActivity::listening);

    life.live(2min, [](Life& served) {
        use_cpu(served, 200ms);
        served.connect(1000);
    });
    ASSERT_EQ(life.activity(), ProcessActivity::working);
    EXPECT_LT(life.classifier.facts().since, noon + 6min);
    EXPECT_THAT(life.evidence(), AllOf(HasSubstr("of a core"), HasSubstr("new connections")));
    life.seen.sockets->connections.clear();

    life.live(3min);
    EXPECT_EQ(life.activity(), ProcessActivity::listening);
    EXPECT_GE(life.classifier.facts().since, noon + 7min - 10s);
    EXPECT_LE(life.classifier.facts().since, noon + 7min + 20s);
    EXPECT_EQ(life.evidence(),
              "no CPU for 2 min, listens on 127.0.0.1:8765, no connection since 12:07 UTC");
    EXPECT_EQ(life.changes, 3);
}

TEST(Classifier, NamesTheDayOfWhatIsLongAgo) {
    Life life;
    life.listen("127.0.0.1:8765");
    life.live(10s, [](Life& served) { served.connect(10); });
    life.seen.sockets->connections.clear();
    life.live(2min);
    life.now.wall += 72h;
    life.now.steady += 72h;
    life.look();

    EXPECT_EQ(life.evidence(),
              "no CPU for 3 days, listens on 127.0.0.1:8765, no connection since 18 May");
}

TEST(Classifier, AHostThatSleptDoesNotMakeItIdle) {
    for (const bool steady_goes_on : {false, true}) {
        Life life;
        const auto work = [](Life& busy) { use_cpu(busy, 15ms); };
        life.live(3min, work);
        ASSERT_EQ(life.activity(), ProcessActivity::working);
        life.now.wall += 8h;
        life.now.boot += 8h;
        if (steady_goes_on) life.now.steady += 8h;
        life.live(3min, work);

        EXPECT_EQ(life.activity(), ProcessActivity::working) << life.evidence();
        EXPECT_EQ(life.changes, 0) << "steady goes on: " << steady_goes_on;
    }
}

TEST(Classifier, GoesOnFromTheRecord) {
    Life life({.activity = ProcessActivity::listening, .since = noon - 2h, .evidence = "old"});
    life.listen("[::1]:80");
    life.look();

    EXPECT_EQ(life.activity(), ProcessActivity::listening);
    EXPECT_EQ(life.classifier.facts().since, noon - 2h);
    EXPECT_EQ(life.evidence(),
              "no CPU for 2 h, listens on [::1]:80, no connection since 12:00 UTC");
    EXPECT_TRUE(life.classifier.is_stale());
}

TEST(Classifier, ARecordFromTheFutureIsFromNow) {
    Life life({.activity = ProcessActivity::waiting, .since = noon + 2h, .evidence = "old"});
    life.look();

    EXPECT_EQ(life.activity(), ProcessActivity::waiting);
    EXPECT_THAT(life.evidence(), StartsWith("no CPU for 0 s"));
    EXPECT_FALSE(life.classifier.is_stale());
}

TEST(Classifier, ALongBreakBetweenTwoLooksIsNotTakenForWork) {
    Life life;
    life.listen("127.0.0.1:80");
    life.live(3min);
    ASSERT_EQ(life.activity(), ProcessActivity::listening);

    life.now.steady += 1h;
    life.now.wall += 1h;
    use_cpu(life, 400ms);  // in an hour
    life.look();

    EXPECT_EQ(life.activity(), ProcessActivity::listening) << life.evidence();
}

TEST(Classifier, OneThatGoesOutOfSightIsWorkingUntilItWasSeenForAMinuteAgain) {
    Life life;
    life.live(3min);
    ASSERT_EQ(life.activity(), ProcessActivity::waiting);
    life.seen.sight = TreeSample::Sight::hidden;
    life.seen.unseen = {"/proc does not show it (hidepid)"};
    life.look();
    ASSERT_EQ(life.activity(), ProcessActivity::working);
    EXPECT_EQ(life.classifier.facts().since, life.now.wall);

    life.seen.sight = TreeSample::Sight::seen;
    life.seen.unseen.clear();
    life.live(50s);
    EXPECT_EQ(life.activity(), ProcessActivity::working);
    life.live(20s);
    EXPECT_EQ(life.activity(), ProcessActivity::waiting);
}

TEST(Classifier, BeginsToListenWithoutHavingWorked) {
    Life life;
    life.live(3min);
    ASSERT_EQ(life.activity(), ProcessActivity::waiting);
    const auto began = life.now.wall;
    life.listen("/run/some.sock");
    life.look();

    EXPECT_EQ(life.activity(), ProcessActivity::listening);
    EXPECT_EQ(life.classifier.facts().since, began);
    EXPECT_THAT(life.evidence(), HasSubstr("no CPU for 3 min, listens on /run/some.sock"));
}

TEST(Classifier, NamesAFewAddressesAndCountsTheRest) {
    Life life;
    for (int port = 1; port <= 6; ++port) life.listen("10.0.0.1:" + std::to_string(port));
    life.live(2min);

    EXPECT_THAT(life.evidence(), HasSubstr("listens on 10.0.0.1:1 and 10.0.0.1:2 and 10.0.0.1:3 "
                                           "and 10.0.0.1:4 and 2 more, "));
}

TEST(Classifier, IsStaleAfterHalfAnHourAndNoLongerWhenItWorks) {
    Life life;
    life.live(29min);
    EXPECT_FALSE(life.classifier.is_stale());
    life.live(2min);
    EXPECT_TRUE(life.classifier.is_stale());

    life.live(31s, [](Life& busy) { use_cpu(busy, 1s); });
    EXPECT_EQ(life.activity(), ProcessActivity::working);
    EXPECT_FALSE(life.classifier.is_stale());
}

TEST(Classifier, CpuThatGoesBackIsNone) {
    Life life;
    life.seen.cpu = 1h;
    life.live(3min);
    life.seen.cpu = 10min;  // a child left that nobody waited for
    life.live(2min);

    EXPECT_EQ(life.activity(), ProcessActivity::waiting) << life.evidence();
}

RC_GTEST_PROP(ClassifierProperty, ASteadyRateOfWorkChangesTheClassOnceAtMost, ()) {
    const auto micros = *rc::gen::inRange(0, 30'000);
    Life life;
    if (*rc::gen::arbitrary<bool>()) life.listen("127.0.0.1:1");
    life.live(20min, [micros](Life& busy) { use_cpu(busy, std::chrono::microseconds{micros}); });

    RC_ASSERT(life.changes <= 1);
    if (micros >= 10'000) RC_ASSERT(life.activity() == ProcessActivity::working);
    if (micros < 4'000) RC_ASSERT(life.activity() != ProcessActivity::working);
}

/// Whatever it did: who then does nothing is idle soon after a minute, and not before.
RC_GTEST_PROP(ClassifierProperty, WhoDoesNothingIsIdleAfterAMinute, ()) {
    const auto deeds = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 5));
    Life life;
    for (const auto deed : deeds) {
        life.live(3s, [deed](Life& busy) {
            if (deed == 1) use_cpu(busy, 1s);
            if (deed == 2) busy.seen.io_bytes += 100'000;
            if (deed == 3) busy.start_child();
            if (deed == 4) busy.connect(10'000);
        });
    }
    life.live(4s, [](Life& busy) { use_cpu(busy, 500ms); });
    RC_ASSERT(life.activity() == ProcessActivity::working);
    const auto ended = life.now.wall;
    life.live(45s);
    RC_ASSERT(life.activity() == ProcessActivity::working);
    life.live(31s);
    RC_ASSERT(life.activity() == ProcessActivity::waiting);
    RC_ASSERT(life.classifier.facts().since >= ended);
    RC_ASSERT(life.classifier.facts().since <= ended + 15s);
}

RC_GTEST_PROP(ClassifierProperty, WhatItSaysIsWhole, ()) {
    Life life;
    const auto looks = *rc::gen::inRange(1, 40);
    for (int i = 0; i < looks; ++i) {
        const auto past = std::chrono::seconds{*rc::gen::inRange(0, 400)};
        life.now.steady += past;
        life.now.wall += past;
        life.seen.cpu += std::chrono::milliseconds{*rc::gen::inRange(0, 2000)};
        life.seen.io_bytes += *rc::gen::inRange<std::uint64_t>(0, 100'000);
        life.seen.is_runnable = *rc::gen::arbitrary<bool>();
        life.seen.sight = *rc::gen::element(TreeSample::Sight::seen, TreeSample::Sight::hidden);
        life.look();
        const auto& facts = life.classifier.facts();
        RC_ASSERT(!facts.evidence.empty());
        RC_ASSERT(facts.since <= life.now.wall);
        RC_ASSERT(facts.since >= noon - 60s);
        if (life.seen.sight == TreeSample::Sight::hidden) {
            RC_ASSERT(facts.activity == ProcessActivity::working);
        }
        if (life.classifier.is_stale()) RC_ASSERT(facts.activity != ProcessActivity::working);
    }
}

}  // namespace
}  // namespace knell
