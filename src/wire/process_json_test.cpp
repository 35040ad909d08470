#include "wire/process_json.hpp"

#include <gtest/gtest.h>

#include "testing/field_check.hpp"

namespace knell::wire {
namespace {

BackgroundProcess plain_process() {
    BackgroundProcess process;
    process.id = ProcessId::from_bits(7);
    process.session_id = SessionId("a");
    process.generation = 2;
    process.process.pid = 4242;
    process.argv = {"make", "-j2", ""};
    process.started_at = from_millis(1000);
    process.activity.since = from_millis(2000);
    return process;
}

TEST(ProcessJson, LeavesOutWhatIsNotThere) {
    EXPECT_EQ(to_text(to_json(plain_process(), {.now = from_millis(3000)})),
              R"({"process_id":"p-7000000000000","session_id":"a","generation":2,)"
              R"("scope":"session","session":"open","origin":"started","pid":4242,)"
              R"("command":"make -j2 ","argv":["make","-j2",""],)"
              R"("started_at":"1970-01-01T00:00:01.000Z","state":"running",)"
              R"("activity":"working","activity_since":"1970-01-01T00:00:02.000Z","counts":true})");
}

TEST(ProcessJson, TellsAllThereIs) {
    auto process = plain_process();
    process.task_id = "t";
    process.origin = ProcessOrigin::leftover;
    process.cwd = "/tmp";
    process.title = "build";
    process.activity = {ProcessActivity::listening, from_millis(2500), "listens on 127.0.0.1:80"};
    process.stale_since = from_millis(2600);
    process.vouched_until = from_millis(2700);
    process.stop_asked_at = from_millis(2800);
    process.stop_asked_by = "process 1 (uid 2)";
    const auto object = to_json(
        process,
        {.now = from_millis(2650),
         .session = SessionState::none,
         .scope = ProcessScope::task,
         .stop = StopState{.is_stopping = false, .left = "process 7: it owns an open session"}});
    EXPECT_EQ(testing::breach_of(fields::process_fields, object), "");
    EXPECT_EQ(text_at(object, "evidence"), "listens on 127.0.0.1:80");
    EXPECT_EQ(text_at(object, "session"), "none");
    EXPECT_TRUE(bool_at(object, "counts")) << "somebody vouches for it";
    EXPECT_FALSE(bool_at(to_json(process, {.now = from_millis(2700)}), "counts"));
    for (const auto& row : fields::process_fields) {
        EXPECT_EQ(object.contains(row.name), row.name != "exit") << row.name;
    }
}

TEST(ProcessJson, AStopThatWasGivenUpSaysWhyUntilTheNextBegins) {
    auto process = plain_process();
    process.stop_asked_by = "process 7: why; process 1 (uid 2) had asked for it";
    for (const auto& stop : {std::optional<StopState>{}, std::optional(StopState{})}) {
        const auto object = to_json(process, {.now = from_millis(3000), .stop = stop});
        EXPECT_EQ(text_at(object, "stop_failed"), process.stop_asked_by);
        EXPECT_FALSE(object.contains("stop_asked_by"));
        EXPECT_EQ(object.contains("stopping"), stop.has_value());
    }
    const StopState again{.is_stopping = true, .left = {}};
    const auto object = to_json(process, {.now = from_millis(3000), .stop = again});
    EXPECT_FALSE(object.contains("stop_failed"));
    EXPECT_TRUE(bool_at(object, "stopping"));
}

TEST(ProcessJson, AnExitSaysHowWithItsBounds) {
    auto process = plain_process();
    process.exit = {ExitKind::exited, 3, "it exited", from_millis(5000), from_millis(4000),
                    from_millis(6000)};
    const auto object = to_json(process, {.now = from_millis(7000)});
    EXPECT_EQ(testing::breach_of(fields::process_fields, object), "");
    EXPECT_EQ(text_at(object, "state"), "exited");
    EXPECT_EQ(text_at(object, "activity"), "exited");
    EXPECT_EQ(text_at(object, "activity_since"), "1970-01-01T00:00:05.000Z");
    EXPECT_EQ(text_at(object, "evidence"), "it exited");
    EXPECT_FALSE(bool_at(object, "counts"));
    EXPECT_EQ(to_text(object.at("exit")),
              R"({"kind":"exited","code":3,"at":"1970-01-01T00:00:05.000Z",)"
              R"("after":"1970-01-01T00:00:04.000Z","before":"1970-01-01T00:00:06.000Z",)"
              R"("evidence":"it exited"})");
    for (const auto& [kind, code, signal] : {std::tuple{ExitKind::exited, true, false},
                                             {ExitKind::signaled, false, true},
                                             {ExitKind::oom_killed, false, true},
                                             {ExitKind::lost, false, false},
                                             {ExitKind::host_restart, false, false},
                                             {ExitKind::never_ran, false, false}}) {
        process.exit->kind = kind;
        const auto told = to_json(process, {.now = from_millis(7000)}).at("exit").as_object();
        EXPECT_EQ(told.contains("code"), code) << static_cast<int>(kind);
        EXPECT_EQ(told.contains("signal"), signal) << static_cast<int>(kind);
    }
}

TEST(ProcessJson, ScopeIsThatOfTheTaskAskedFor) {
    auto process = plain_process();
    EXPECT_EQ(scope_of(process, ""), ProcessScope::session);
    EXPECT_EQ(scope_of(process, "t"), ProcessScope::session);
    process.task_id = "t";
    EXPECT_EQ(scope_of(process, ""), ProcessScope::task);
    EXPECT_EQ(scope_of(process, "t"), ProcessScope::task);
    EXPECT_EQ(scope_of(process, "u"), ProcessScope::session);
}

}  // namespace
}  // namespace knell::wire
