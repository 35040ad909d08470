#include "cli/config_report.hpp"

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

JsonObject from(std::string_view text) {
    return wire::parse_json(text).value().as_object();
}

TEST(ConfigReport, SaysWhatIsThere) {
    EXPECT_EQ(config_report(from(R"({"ok":true,"problems":[],"webhooks":["ops","log"],
                  "hooks":["notify"],"remarks":["hook notify: knell never sends agent:step"],
                  "events":{"keep_days":30,"keep_count":10000000},
                  "config_file":"/k/config.yaml","config_exists":true,"hooks_dir":"/k/hooks"})")),
              "/k/config.yaml: ok, 2 webhooks (ops, log); events are kept 30 days, at most "
              "10000000\n"
              "/k/hooks: 1 hook (notify)\n"
              "hook notify: knell never sends agent:step\n");
}

TEST(ConfigReport, SaysThatTheFileMayBeMissing) {
    EXPECT_EQ(config_report(from(R"({"ok":true,"problems":[],"webhooks":[],"hooks":[],
                  "remarks":[],"events":{"keep_days":30,"keep_count":5},
                  "config_file":"/k/config.yaml","config_exists":false,"hooks_dir":"/k/hooks"})")),
              "/k/config.yaml: not there, so the defaults hold; events are kept 30 days, at most "
              "5\n"
              "/k/hooks: no hooks\n");
}

TEST(ConfigReport, GivesEachProblemALine) {
    EXPECT_EQ(config_report(from(R"({"ok":false,"problems":[
                  {"file":"/k/config.yaml","line":5,"column":1,"path":"b","level":"warning",
                   "message":"strange","hint":""},
                  {"file":"/k/config.yaml","line":3,"column":7,"path":"a.b","level":"error",
                   "message":"odd","hint":"write it"},
                  {"file":"/k/hooks/a/run","path":"","level":"error","message":"two\nlines",
                   "hint":""}],
                  "webhooks":[],"hooks":[],"remarks":[],"config_file":"/k/config.yaml",
                  "config_exists":true,"hooks_dir":"/k/hooks"})")),
              "/k/config.yaml:3:7: error: a.b: odd; write it\n"
              "/k/hooks/a/run: error: two lines\n"
              "/k/config.yaml:5:1: warning: b: strange\n"
              "2 errors, 1 warning\n"
              "/k/hooks: no hooks\n");
}

TEST(ConfigReport, OfAFileSaysThatItIsRight) {
    EXPECT_EQ(config_report(from(R"({"ok":true,"file":"new.yaml","config_file":"new.yaml",
                  "problems":[],"webhooks":[],"hooks":[],"remarks":[]})")),
              "new.yaml: ok\n");
}

TEST(ReloadReport, SaysWhatChangedOrWhyNothingDid) {
    EXPECT_EQ(reload_report(from(R"({"reloaded":true,"changes":["events.keep_days 30 -> 7"],
                  "problems":[]})")),
              "config.yaml is in force:\n  events.keep_days 30 -> 7\n");
    EXPECT_EQ(reload_report(from(R"({"reloaded":true,"changes":[],"problems":[]})")),
              "config.yaml is in force; nothing in it has changed\n");
    const auto bad = from(R"({"reloaded":false,"changes":[],"problems":[{"file":"c","line":1,
        "column":1,"path":"a","level":"error","message":"odd","hint":""}]})");
    EXPECT_EQ(reload_report(bad),
              "c:1:1: error: a: odd\n1 error\nconfig.yaml was not taken; what was read before "
              "holds\n");
    EXPECT_TRUE(has_errors(bad));
    EXPECT_FALSE(has_errors(from(R"({"problems":[{"level":"warning"}]})")));
}

}  // namespace
}  // namespace knell::cli
