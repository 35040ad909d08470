// Calls of agents' tools, on every store: they are kept in memory, with the session, and what is
// told of them is on record.

#include "stores.hpp"

namespace knell::testing {
namespace {

using namespace std::chrono_literals;

ReportTools report(std::string id, Generation generation, std::vector<ToolReport> reports) {
    ReportTools command{.session_id = SessionId(std::move(id)), .generation = generation};
    for (auto& one : reports) command.reports.push_back({.report = std::move(one)});
    return command;
}

ToolReport failed(std::string error = "no such file") {
    return {.call = {.tool = "Bash"}, .ok = false, .error = std::move(error)};
}

ToolReport good(std::uint64_t args) {
    return {.call = {.tool = "Read", .args = args}};
}

CheckTool check(std::string id, Generation generation, std::string tool = "Bash") {
    return {.session_id = SessionId(std::move(id)),
            .generation = generation,
            .call = {.tool = std::move(tool)}};
}

class GuardStory : public StoreStory {
  protected:
    GuardStory() { journal().one(create("a", lease_owner(1h)), at(0)); }

    std::uint32_t errors(const std::string& id = "a", int when = 1) {
        const auto known = journal().one(Inspect{SessionId(id)}, at(when));
        const auto& guard = std::get<InspectReply>(known.value()).guard;
        return guard ? guard->errors : 0;
    }
    static const ToolsReportedReply& reported(const Result<Reply>& reply) {
        return std::get<ToolsReportedReply>(reply.value());
    }
    static bool is_allowed(const Result<Reply>& reply) {
        return std::get<ToolCheckedReply>(reply.value()).permission.allow;
    }
};
INSTANTIATE_TEST_SUITE_P(EveryStore, GuardStory, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(GuardStory, ANudgeIsAnEventAndAReportIsNone) {
    const auto before = journal().journal.counts().commits;
    journal().one(report("a", 1, {failed(), failed()}), at(1));
    EXPECT_EQ(journal().journal.counts().commits, before) << "a report is no transaction";

    const auto third = journal().one(report("a", 1, {failed()}), at(2));

    ASSERT_EQ(reported(third).nudges.size(), 1U);
    const auto events = told(EventType::agent_stuck);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].stuck, reported(third).nudges[0].stuck);
    EXPECT_EQ(events[0].detail, nudge_text(*events[0].stuck));
    EXPECT_EQ(events[0].time, at(2).wall);
    EXPECT_EQ(journal().journal.counts().tools.reports, 3U);
    EXPECT_EQ(journal().journal.counts().tools.of(NudgeLevel::advice), 1U);
}

TEST_P(GuardStory, CallsOfOneGroupBuildOnEachOther) {
    const auto replies = journal().group({report("a", 1, {failed()}), report("a", 1, {failed()}),
                                          report("a", 1, {failed()}), report("a", 1, {good(1)}),
                                          report("a", 1, {failed(), failed(), failed()})});

    EXPECT_TRUE(reported(replies[1]).nudges.empty());
    EXPECT_EQ(reported(replies[2]).nudges.size(), 1U);
    EXPECT_EQ(reported(replies[4]).nudges.size(), 1U);
    EXPECT_EQ(told(EventType::agent_stuck).size(), 2U);
}

TEST_P(GuardStory, TheyStayWithASessionThatIsTakenOver) {
    journal().one(report("a", 1, {failed(), failed()}), at(1));
    journal().one(resume("a", /*takeover=*/true), at(2));

    const auto stale = journal().one(report("a", 1, {failed()}), at(3));
    EXPECT_EQ(stale.error().code, ErrorCode::fenced);
    EXPECT_EQ(errors(), 2U);
    EXPECT_EQ(reported(journal().one(report("a", 2, {failed()}), at(4))).nudges.size(), 1U);
}

TEST_P(GuardStory, TheyEndWithTheSession) {
    journal().one(report("a", 1, {failed(), failed()}), at(1));
    journal().one(close("a"), at(2));
    EXPECT_EQ(journal().one(report("a", 1, {failed()}), at(3)).error().code, ErrorCode::ended);
    EXPECT_EQ(journal().one(check("a", 1), at(3)).error().code, ErrorCode::ended);
    EXPECT_EQ(journal().one(report("b", 1, {failed()}), at(3)).error().code, ErrorCode::not_found);

    journal().one(resume("a"), at(4));
    EXPECT_EQ(errors("a", 5), 0U);
    EXPECT_TRUE(reported(journal().one(report("a", 2, {failed()}), at(6))).nudges.empty());
}

TEST_P(GuardStory, TheyAreGoneWithTheDaemon) {
    journal().one(report("a", 1, {failed(), failed()}), at(1));
    restart(at(2));
    EXPECT_EQ(errors("a", 3), 0U);
}

TEST_P(GuardStory, ReportsOfManySessionsAreTakenOneByOne) {
    journal().one(create("b", process_owner(5)), at(1));
    auto parked = create("c", process_owner(6));
    parked.draft.on_owner_loss = OnOwnerLoss::park;
    parked.draft.park_window = 300s;
    journal().one(parked, at(1));
    journal().one(gone(6, exited(0)), at(2));
    ReportTools many;
    for (const auto& [id, generation] : std::vector<std::pair<std::string, Generation>>{
             {"a", 1}, {"b", 7}, {"c", 1}, {"nobody", 1}, {"a", 1}, {"a", 1}}) {
        many.reports.push_back({failed(), SessionId(id), generation});
    }

    const auto reply = journal().one(std::move(many), at(3));

    EXPECT_EQ(reported(reply).recorded, 3U);
    ASSERT_EQ(reported(reply).nudges.size(), 1U);
    EXPECT_EQ(reported(reply).nudges[0].session_id.text(), "a");
    EXPECT_EQ(reported(reply).fenced, (std::vector{SessionId("b"), SessionId("c")}));
    EXPECT_EQ(reported(reply).ended, std::vector{SessionId("nobody")});
}

TEST_P(GuardStory, AReportIsASignOfLife) {
    journal().one(create("b", lease_owner(45s)), at(1));
    journal().one(create("c", hosted_owner(60s)), at(1));
    for (int now = 30; now <= 300; now += 30) {
        journal().one(report("b", 1, {good(static_cast<std::uint64_t>(now))}), at(now));
        journal().one(check("c", 1), at(now));
        journal().tick(at(now));
    }
    EXPECT_FALSE(shown("b").end);
    EXPECT_FALSE(shown("c").end);
    journal().tick(at(400));
    EXPECT_TRUE(shown("b").end);
    EXPECT_TRUE(shown("c").end);
}

TEST_P(GuardStory, ABreakerLetsOneThroughWhenItHasCooledDown) {
    GuardPolicy policy;
    policy.breaker = BreakerMode::open;
    policy.cool_down = 60s;
    journal().state.set_guard_policy(policy);
    EXPECT_TRUE(is_allowed(journal().one(check("a", 1), at(0))));
    journal().one(report("a", 1, std::vector(9, failed())), at(1));

    EXPECT_FALSE(is_allowed(journal().one(check("a", 1), at(2))));
    EXPECT_EQ(journal().journal.counts().tools.denials, 1U);
    const auto known =
        std::get<InspectReply>(journal().one(Inspect{SessionId("a")}, at(31)).value());
    EXPECT_EQ(known.guard->breaker.state, BreakerState::open);
    EXPECT_EQ(known.breaker_left, 30s);
    const auto replies =
        journal().group({check("a", 1), check("a", 1, "Read"), check("a", 1)}, at(61));
    EXPECT_TRUE(is_allowed(replies[0]));
    EXPECT_FALSE(is_allowed(replies[1]));
    EXPECT_FALSE(is_allowed(replies[2]));
    journal().one(report("a", 1, {{.call = {.tool = "Bash"}}}), at(62));
    EXPECT_TRUE(is_allowed(journal().one(check("a", 1), at(63))));
}

TEST_P(GuardStory, ASessionThatReportsNothingHasNothing) {
    journal().one(check("a", 1), at(1));
    EXPECT_EQ(journal().state.guards().size(), 0U);
    journal().one(report("a", 1, {good(1)}), at(1));
    EXPECT_EQ(journal().state.guards().size(), 1U);
    journal().one(close("a"), at(2));
    EXPECT_EQ(journal().state.guards().size(), 0U);
}

}  // namespace
}  // namespace knell::testing
