#include "foreign/hermes/owners.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace knell::hermes {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr WallTime booted_at = from_millis(1'770'000'000'000);
constexpr WallTime now = booted_at + 100h;

/// Process 10 runs since tick 5000, fifty seconds after the start of the machine; 11 is a zombie.
ProcessView view() {
    return {.look = [](pid_t pid) -> std::optional<ProcStat> {
                if (pid == 10) return ProcStat{.start_ticks = 5000};
                if (pid == 11) return ProcStat{.start_ticks = 6000, .state = 'Z'};
                return std::nullopt;
            },
            .booted_at = booted_at,
            .ticks_per_second = 100,
            .host = "here"};
}

SessionRow row(const std::string& id) {
    SessionRow row;
    row.id = id;
    row.source = "telegram";
    row.key = "agent:main:telegram:dm:" + id;
    row.started_at = booted_at - 1000h;
    return row;
}

OwnerEntry owner(pid_t pid, std::optional<double> started, const std::string& session = "") {
    return {.pid = pid,
            .started = started,
            .session_id = session,
            .host = "",
            .where = session.empty() ? "gateway.pid" : "active_sessions.json"};
}

RowVerdict verdict(RowJudge::Facts facts, const SessionRow& of) {
    return RowJudge(std::move(facts), view()).judge(of);
}

TEST(HermesOwner, IsAliveByItsStartInTicksOrSeconds) {
    EXPECT_EQ(judge(owner(10, 5000), view()), Life::alive);
    EXPECT_EQ(judge(owner(10, 1'770'000'050.3), view()), Life::alive);
    EXPECT_EQ(judge(owner(10, 4000), view()), Life::reused);
    EXPECT_EQ(judge(owner(10, {}), view()), Life::unknown);
    EXPECT_EQ(judge(owner(11, 6000), view()), Life::gone);
    EXPECT_EQ(judge(owner(12, 1), view()), Life::gone);
}

TEST(HermesOwner, OfAnotherHostIsUnknown) {
    auto entry = owner(12, 1);
    entry.host = "there";

    EXPECT_EQ(judge(entry, view()), Life::unknown);
}

TEST(HermesProcess, IsTheOneThatStartedThen) {
    ProcessEntry entry{.pid = 10, .start_ticks = 5000, .started_at = booted_at + 50s};
    EXPECT_EQ(judge(entry, view(), now, 24h).life, Life::alive);
    entry.start_ticks = 4999;
    EXPECT_EQ(judge(entry, view(), now, 24h).life, Life::reused);
    entry.start_ticks.reset();
    EXPECT_EQ(judge(entry, view(), now, 24h).life, Life::unknown);
    // What has the number began after the entry was written.
    entry.started_at = booted_at - 1h;
    EXPECT_EQ(judge(entry, view(), now, 24h).life, Life::reused);
    entry.is_on_host = false;
    EXPECT_EQ(judge(entry, view(), now, 24h).life, Life::unknown);
    entry.is_on_host = true;
    entry.pid = 12;
    EXPECT_EQ(judge(entry, view(), now, 24h).life, Life::gone);
}

TEST(HermesProcess, HoldsAResetUntilItIsTooOldAndForEverBeforeThereWasABound) {
    const ProcessEntry entry{.pid = 10, .start_ticks = 5000, .started_at = booted_at + 50s};

    EXPECT_EQ(judge(entry, view(), booted_at + 60s, 24h).age, 10s);
    EXPECT_TRUE(judge(entry, view(), booted_at + 60s, 24h).holds_reset);
    EXPECT_FALSE(judge(entry, view(), now, 24h).holds_reset);
    EXPECT_TRUE(judge(entry, view(), now, std::nullopt).holds_reset);
}

TEST(HermesRow, IsDeadWhenNobodyHasTheDatabaseOpen) {
    const auto judged = verdict({}, row("a"));

    EXPECT_EQ(judged.verdict, Verdict::dead);
    EXPECT_EQ(judged.evidence, "nobody has state.db open");
}

TEST(HermesRow, IsUnknownHoweverOldWhileSomebodyMayHaveIt) {
    RowJudge::Facts open;
    open.files.holders = {{10, 5000, "hermes gateway"}};
    EXPECT_EQ(verdict(open, row("a")).verdict, Verdict::unknown);
    EXPECT_THAT(verdict(open, row("a")).evidence, HasSubstr("process 10 (hermes gateway)"));

    RowJudge::Facts hidden;
    hidden.files.unseen = {{10, 5000, "/usr/bin/python3 gateway"}};
    EXPECT_EQ(verdict(hidden, row("a")).verdict, Verdict::unknown);

    RowJudge::Facts unreadable;
    unreadable.unreadable = {"active_sessions.json cannot be understood"};
    EXPECT_EQ(verdict(unreadable, row("a")).verdict, Verdict::unknown);

    RowJudge::Facts elsewhere;
    elsewhere.owners = {owner(99, 1)};
    elsewhere.owners.front().host = "there";
    EXPECT_EQ(verdict(elsewhere, row("a")).verdict, Verdict::unknown);
}

TEST(HermesRow, IsNotHeldByAHiddenProcessThatCannotBeHermes) {
    RowJudge::Facts facts;
    facts.files.unseen = {{10, 5000, "ssh-agent -s"}};

    EXPECT_EQ(verdict(facts, row("a")).verdict, Verdict::dead);
}

TEST(HermesRow, IsAliveWithTheProcessThatIsNamedForIt) {
    RowJudge::Facts facts;
    facts.owners = {owner(10, 5000, "a"), owner(12, 7, "b"), owner(10, {}, "c")};
    facts.files.holders = {{10, 5000, "hermes"}};

    EXPECT_EQ(verdict(facts, row("a")).verdict, Verdict::alive);
    EXPECT_EQ(verdict(facts, row("b")).verdict, Verdict::dead);
    EXPECT_EQ(verdict(facts, row("c")).verdict, Verdict::unknown);
    EXPECT_EQ(verdict(facts, row("d")).verdict, Verdict::unknown);
}

TEST(HermesRow, HasAnOwnerInTheHolderOfItsTurn) {
    auto leased = row("a");
    leased.turn_holder = "host=here pid=12 tid=1";
    EXPECT_EQ(verdict({}, leased).verdict, Verdict::dead);
    leased.turn_holder = "host=here pid=10 tid=1";
    // Its start is not known: the number may be another's.
    EXPECT_EQ(verdict({}, leased).verdict, Verdict::unknown);
}

TEST(HermesRow, IsAliveWhileItsBackgroundWorkRuns) {
    RowJudge::Facts facts;
    facts.processes = {
        {.command = "http.server", .pid = 10, .start_ticks = 5000, .session_key = row("a").key},
        {.command = "gone", .pid = 12, .start_ticks = 1, .session_key = row("b").key},
        {.command = "old", .pid = 10, .start_ticks = 5000, .parent_session_id = "c"}};

    EXPECT_EQ(verdict(facts, row("a")).verdict, Verdict::alive);
    EXPECT_THAT(verdict(facts, row("a")).evidence,
                HasSubstr("background process 10 (http.server)"));
    EXPECT_EQ(verdict(facts, row("b")).verdict, Verdict::dead);
    EXPECT_EQ(verdict(facts, row("c")).verdict, Verdict::alive);
}

TEST(HermesRow, IsAliveWhereTheGatewayRunsAndLeadsToIt) {
    RowJudge::Facts facts;
    facts.owners = {owner(10, 5000)};
    facts.routing = {{.key = "k", .session_id = "a"},
                     {.key = "l", .session_id = "b", .finalized = true}};

    EXPECT_EQ(verdict(facts, row("a")).verdict, Verdict::alive);
    EXPECT_EQ(verdict(facts, row("b")).verdict, Verdict::dead);
    EXPECT_THAT(verdict(facts, row("b")).evidence, HasSubstr("expiry_finalized"));
    EXPECT_EQ(verdict(facts, row("c")).verdict, Verdict::unknown);

    facts.owners = {owner(12, 5000)};
    EXPECT_EQ(verdict(facts, row("a")).verdict, Verdict::dead);
}

TEST(HermesRow, FinalizedByTheGatewayIsOver) {
    RowJudge::Facts facts;
    facts.files.holders = {{10, 5000, "hermes"}};
    auto finalized = row("a");
    finalized.finalized = true;

    EXPECT_EQ(verdict(facts, finalized).verdict, Verdict::dead);
}

TEST(HermesHolder, NamesItsProcessInAnyPlace) {
    EXPECT_EQ(pid_in_holder("pid=17"), 17);
    EXPECT_EQ(pid_in_holder("host=a:pid=17:tid=3"), 17);
    EXPECT_EQ(pid_in_holder("ppid=3 pid=17"), 17);
    EXPECT_EQ(pid_in_holder("worker-3"), 0);
}

}  // namespace
}  // namespace knell::hermes
