#include "wire/event_text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wire/session_json.hpp"

namespace knell::wire {
namespace {

/// Any bytes at all, with those that need care more often than chance would have them.
rc::Gen<std::string> any_text() {
    const auto delicate =
        rc::gen::element('"', '\\', '/', '\n', '\t', '\0', '\x1f', '\x7f', '\xc3', '\xff');
    return rc::gen::container<std::string>(
        rc::gen::oneOf(delicate, rc::gen::inRange<char>(' ', '~'), rc::gen::arbitrary<char>()));
}

WallTime any_time() {
    return from_millis(*rc::gen::inRange<std::int64_t>(0, 253'402'300'800'000));
}

std::vector<Leftover> any_leftovers() {
    std::vector<Leftover> leftovers(*rc::gen::inRange<std::size_t>(0, 3));
    for (auto& leftover : leftovers) {
        leftover.process.pid = *rc::gen::arbitrary<std::int32_t>();
        leftover.process.start_ticks = *rc::gen::inRange<std::uint64_t>(0, INT64_MAX);
        leftover.found_by = *any_text();
        leftover.command = *any_text();
        leftover.process_id = ProcessId(*any_text());
        leftover.fate = static_cast<Fate>(*rc::gen::inRange<std::size_t>(0, fate_names.size()));
    }
    return leftovers;
}

BackgroundProcess any_process() {
    BackgroundProcess process;
    process.id = ProcessId(*any_text());
    process.session_id = SessionId(*any_text());
    process.generation = *rc::gen::arbitrary<Generation>();
    process.task_id = *any_text();
    process.process.pid = *rc::gen::arbitrary<std::int32_t>();
    process.argv = *rc::gen::container<std::vector<std::string>>(any_text());
    process.cwd = *any_text();
    process.started_at = any_time();
    process.activity = {static_cast<ProcessActivity>(*rc::gen::inRange(0, 3)), any_time(),
                        *any_text()};
    if (*rc::gen::arbitrary<bool>()) process.stale_since = any_time();
    if (*rc::gen::arbitrary<bool>()) process.vouched_until = any_time();
    if (*rc::gen::arbitrary<bool>()) process.stop_asked_at = any_time();
    process.stop_asked_by = *any_text();
    if (*rc::gen::arbitrary<bool>()) {
        const auto kind = *rc::gen::inRange<std::size_t>(0, exit_kind_names.size());
        process.exit = ProcessExit{static_cast<ExitKind>(kind),
                                   *rc::gen::arbitrary<int>(),
                                   *any_text(),
                                   any_time(),
                                   any_time(),
                                   any_time()};
    }
    return process;
}

std::vector<Blocker> any_blockers() {
    std::vector<Blocker> blockers(*rc::gen::inRange<std::size_t>(0, 3));
    for (auto& blocker : blockers) {
        blocker.process_id = ProcessId(*any_text());
        blocker.pid = *rc::gen::arbitrary<std::int32_t>();
        blocker.command = *any_text();
        blocker.started_at = any_time();
        blocker.activity = static_cast<ProcessActivity>(*rc::gen::inRange(0, 3));
        if (*rc::gen::arbitrary<bool>()) blocker.vouched_until = any_time();
        if (*rc::gen::arbitrary<bool>()) blocker.until = any_time();
    }
    return blockers;
}

Event any_event() {
    Event event;
    event.seq = *rc::gen::inRange<Seq>(1, INT64_MAX);
    event.type = static_cast<EventType>(*rc::gen::inRange<std::size_t>(0, event_type_names.size()));
    event.time = any_time();
    event.blockers = any_blockers();
    if (*rc::gen::inRange(0, 8) == 0) return event;
    event.session_id = SessionId(*any_text());
    event.session_key = *any_text();
    event.generation = *rc::gen::arbitrary<Generation>();
    event.platform = *any_text();
    event.user_id = *any_text();
    event.source = *any_text();
    event.parent_id = SessionId(*any_text());
    event.relation =
        static_cast<Relation>(*rc::gen::inRange<std::size_t>(0, relation_names.size()));
    event.started_at = any_time();
    event.tally = {*rc::gen::arbitrary<std::int64_t>(), *rc::gen::arbitrary<std::int64_t>(),
                   *rc::gen::arbitrary<std::int64_t>()};
    event.detail = *any_text();
    event.after_end = *rc::gen::arbitrary<bool>();
    if (*rc::gen::arbitrary<bool>()) event.process = any_process();
    if (*rc::gen::arbitrary<bool>()) {
        event.compression = Compression{static_cast<CompressOutcome>(*rc::gen::inRange(0, 3)),
                                        SessionId(*any_text()), *any_text()};
    }
    if (*rc::gen::arbitrary<bool>()) {
        event.stuck = Stuck{.kind = static_cast<NudgeKind>(*rc::gen::inRange(0, 4)),
                            .level = static_cast<NudgeLevel>(*rc::gen::inRange(0, 3)),
                            .streak = *rc::gen::arbitrary<std::uint32_t>(),
                            .tool = *any_text(),
                            .other_tool = *any_text(),
                            .error = *any_text()};
    }
    if (*rc::gen::arbitrary<bool>()) {
        event.end = End{static_cast<Reason>(*rc::gen::inRange<std::size_t>(0, reason_table.size())),
                        static_cast<Proof>(*rc::gen::inRange<std::size_t>(0, proof_names.size())),
                        *any_text(),
                        *any_text(),
                        any_time(),
                        any_time(),
                        any_time(),
                        any_leftovers()};
    }
    return event;
}

RC_GTEST_PROP(EventText, IsTheObjectByteForByte, ()) {
    const auto event = any_event();
    std::string text;

    append_event(text, event, "n0de");

    RC_ASSERT(text == to_text(to_json(event, "n0de")));
}

TEST(EventText, ALineIsANotificationThatCanBeRead) {
    Event event;
    event.seq = 7;
    event.type = EventType::session_start;
    event.session_id = SessionId("a.b");
    event.generation = 2;
    event.source = "say \"hi\"\n";
    std::string text;

    append_event_line(text, event, "n0de");

    ASSERT_EQ(text.back(), '\n');
    text.pop_back();
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const auto line = parse_json(text);
    ASSERT_TRUE(line) << line.error().message;
    EXPECT_EQ(text_at(line->as_object(), "method"), "event");
    const auto* params = object_at(line->as_object(), "params");
    ASSERT_NE(params, nullptr);
    EXPECT_EQ(*params, to_json(event, "n0de"));
    EXPECT_EQ(text_at(*params, "id"), "a~b_2_start");
}

TEST(EventText, WhatHoldsAResetAndWhatRunsOnGoUnderTheirOwnNames) {
    Event event;
    event.type = EventType::session_reset_deferred;
    event.session_id = SessionId("s");
    event.blockers = {{.process_id = ProcessId("p-1"),
                       .pid = 7,
                       .command = "make",
                       .started_at = from_millis(0),
                       .activity = ProcessActivity::listening,
                       .vouched_until = {},
                       .until = from_millis(1000)}};

    const auto told = to_json(event, "n");
    event.type = EventType::notice;
    const auto noticed = to_json(event, "n");

    EXPECT_EQ(to_text(told.at("blockers")),
              R"([{"process_id":"p-1","pid":7,"command":"make",)"
              R"("started_at":"1970-01-01T00:00:00.000Z","activity":"listening",)"
              R"("until":"1970-01-01T00:00:01.000Z"}])");
    EXPECT_FALSE(told.contains("processes"));
    EXPECT_EQ(noticed.at("processes"), told.at("blockers"));
    EXPECT_FALSE(noticed.contains("blockers"));
}

TEST(EventText, ACompressionSaysHowItWent) {
    Event event;
    event.type = EventType::session_compress;
    event.session_id = SessionId("s");
    event.compression = {CompressOutcome::failed, SessionId(), ""};
    event.detail = "no answer";

    const auto failed = to_json(event, "n");
    event.compression = {CompressOutcome::compressed, SessionId("c"), "local"};
    const auto compressed = to_json(event, "n");

    EXPECT_EQ(text_at(failed, "outcome"), "failed");
    EXPECT_EQ(text_at(failed, "detail"), "no answer");
    EXPECT_FALSE(failed.contains("child_id") || failed.contains("provider"));
    EXPECT_EQ(text_at(compressed, "child_id"), "c");
    EXPECT_EQ(text_at(compressed, "provider"), "local");
}

TEST(EventText, AnAgentThatIsStuckSaysInWhatWay) {
    Event event;
    event.type = EventType::agent_stuck;
    event.session_id = SessionId("s");
    event.stuck = Stuck{.kind = NudgeKind::cycle,
                        .level = NudgeLevel::stop_and_rethink,
                        .streak = 16,
                        .tool = "Edit",
                        .other_tool = "Test"};
    event.detail = "what it is told";

    const auto json = to_json(event, "n");

    EXPECT_EQ(text_at(json, "type"), "agent:stuck");
    EXPECT_EQ(text_at(json, "kind"), "cycle");
    EXPECT_EQ(text_at(json, "level"), "stop_and_rethink");
    EXPECT_EQ(int_at(json, "streak"), 16);
    EXPECT_EQ(text_at(json, "tool"), "Edit");
    EXPECT_EQ(text_at(json, "other_tool"), "Test");
    EXPECT_EQ(text_at(json, "detail"), "what it is told");
    EXPECT_FALSE(json.contains("error"));
}

TEST(EventText, AGapSaysFromWhereToWhere) {
    std::string text;

    append_gap_line(text, 1, 500);

    EXPECT_EQ(text,
              "{\"jsonrpc\":\"2.0\",\"method\":\"gap\",\"params\":{\"from\":1,\"to\":500}}\n");
}

}  // namespace
}  // namespace knell::wire
