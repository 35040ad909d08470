// The schema and the reader are two opinions on one text: they must agree on all of these.

#include "config/key_schema.hpp"

#include <gtest/gtest.h>

#include "config/config.hpp"
#include "config/keys.hpp"
#include "testing/schema_check.hpp"

namespace knell {
namespace {

bool schema_accepts(std::string_view text) {
    return knell::testing::schema_accepts(config_keys, text);
}
bool reader_accepts(std::string_view text) {
    return parse_config(text, "/c", "/home/ann").has_value();
}

std::string webhook(const std::string& more) {
    return "webhooks:\n  - name: ops\n    url: https://example.org/a\n" + more;
}

TEST(KeySchema, AcceptsWhatIsRight) {
    for (const auto& text :
         {std::string(""), std::string("events:\nwebhooks:\n"), std::string("webhooks: []\n"),
          std::string("events: {keep_days: 7, keep_count: 1}\n"),
          std::string("events: {keep_days: 7d, keep_count:}\n"),
          std::string("http: {listen: off, hosts: [], behind_proxy: true}\n"),
          std::string("http: {listen: '[::1]:0', hosts: a.example, turn_window: 1h}\n"),
          webhook("    secret_env: S\n"),
          webhook("    secret_file: ~/a\n    timeout: 60\n    concurrency: 16\n"),
          webhook("    secrets: [{file: a}, {env: B}]\n    timeout: 1m\n    events: notice\n"),
          webhook("    secret_env: S\n    secrets: []\n    allow_internal: true\n"),
          webhook("    secret_env: S\n    events: [session:*, notice]\n    timeout:\n")}) {
        EXPECT_TRUE(schema_accepts(text)) << text;
        EXPECT_TRUE(reader_accepts(text)) << text;
    }
}

TEST(KeySchema, RefusesWhatIsWrong) {
    for (const auto& text :
         {std::string("[]\n"),
          std::string("event: {}\n"),
          std::string("events: 5\n"),
          std::string("events: {keep_day: 7}\n"),
          std::string("events: {keep_days: 0}\n"),
          std::string("events: {keep_days: 36501}\n"),
          std::string("events: {keep_days: soon}\n"),
          std::string("events: {keep_count: 1.5}\n"),
          std::string("events: {keep_count: '5'}\n"),
          std::string("http: {listen: here}\n"),
          std::string("http: {detach_window: 0}\n"),
          std::string("webhooks: {}\n"),
          std::string("webhooks: [words]\n"),
          webhook(""),
          webhook("    secrets: []\n"),
          webhook("    secrets: [{}]\n"),
          webhook("    secrets: [{file: a, env: B}]\n"),
          webhook("    secret_env: 'a b'\n"),
          webhook("    secret_env: whsec_abc\n"),
          webhook("    secret_file: whsec_abc\n"),
          webhook("    secret_file:\n"),
          webhook("    secret_env: S\n    secret: abc\n"),
          webhook("    secret_env: S\n    timeout: 61\n"),
          webhook("    secret_env: S\n    timeout: 1.5m\n"),
          webhook("    secret_env: S\n    concurrency: 17\n"),
          webhook("    secret_env: S\n    allow_internal: 'yes'\n"),
          webhook("    secret_env: S\n    events: []\n"),
          webhook("    secret_env: S\n    events: {a: b}\n"),
          std::string("webhooks:\n  - name: a b\n    url: https://a/\n    secret_env: S\n"),
          std::string("webhooks:\n  - name: a\n    url: ftp://a/\n    secret_env: S\n"),
          std::string("webhooks:\n  - url: https://a/\n    secret_env: S\n")}) {
        EXPECT_FALSE(schema_accepts(text)) << text;
        EXPECT_FALSE(reader_accepts(text)) << text;
    }
}

}  // namespace
}  // namespace knell
