#include "cli/hooks_preview.hpp"

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

const JsonObject list = wire::parse_json(R"({
    "hooks": [
        {"name": "ops", "kind": "hook", "directory": "/h/ops", "state": "active", "cursor": 7,
         "lag": 0, "waiting": 2, "dead": 1},
        {"name": "web", "kind": "webhook", "url": "https://example.org/", "state": "paused",
         "cursor": 3, "lag": 4, "waiting": 5, "dead": 0},
        {"name": "gone", "state": "absent", "cursor": 1, "waiting": 1, "dead": 1}],
    "problems": [{"name": "bad", "message": "bad/HOOK.yaml:3: no"}]})")
                            .value()
                            .as_object();

std::string preview(const std::string& action, const std::string& name) {
    const auto would = hooks_preview(action, name, list);
    return would ? *would : "error: " + would.error().message;
}

TEST(HooksPreview, SaysWhatWouldBeDone) {
    EXPECT_EQ(preview("pause", "ops"), "pause ops, which is active, at event 7");
    EXPECT_EQ(preview("resume", "web"),
              "resume web, which is paused, after event 3; 4 events are behind that");
    EXPECT_EQ(preview("retry", "ops"), "send again now: 2 events that wait, 1 dead letters");
    EXPECT_EQ(preview("retry", ""), "send again now: 7 events that wait, 1 dead letters");
    EXPECT_EQ(preview("test", "ops"), "run ops in /h/ops with an event that never happened");
    EXPECT_EQ(preview("test", "web"),
              "send web an event that never happened, at https://example.org/");
    EXPECT_EQ(preview("forget", "gone"),
              "forget gone: its place at event 1, 1 events that wait, 1 dead letters");
}

TEST(HooksPreview, SaysWhenNothingWouldChange) {
    EXPECT_EQ(preview("pause", "web"), "change nothing: web is paused already");
    EXPECT_EQ(preview("resume", "ops"), "change nothing: ops is active already");
}

TEST(HooksPreview, FailsWhereTheActionWould) {
    EXPECT_EQ(preview("pause", "nobody"),
              "error: no hook or webhook nobody; `knell hooks ls` lists them");
    EXPECT_EQ(preview("test", "bad"), "error: bad cannot be used: bad/HOOK.yaml:3: no");
    EXPECT_EQ(preview("retry", "gone"), "error: the directory or config entry of gone is gone");
    EXPECT_TRUE(preview("forget", "ops").starts_with("error: ops is still there"));
}

}  // namespace
}  // namespace knell::cli
