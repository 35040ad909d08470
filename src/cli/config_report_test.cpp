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
                  {"file":"/k/config.yaml","line":3,"column":7,"message":"odd"},
                  {"file":"/k/hooks/a/run","message":"two\nlines"}],
                  "webhooks":[],"hooks":[],"remarks":[],"config_file":"/k/config.yaml",
                  "config_exists":true,"hooks_dir":"/k/hooks"})")),
              "/k/config.yaml:3:7: odd\n"
              "/k/hooks/a/run: two lines\n"
              "/k/hooks: no hooks\n");
}

}  // namespace
}  // namespace knell::cli
