// The schema and the reader are two opinions on one text: they must agree on all of these.

#include "config/key_schema.hpp"

#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "config/config.hpp"
#include "config/keys.hpp"
#include "testing/schema_agreement.hpp"
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
          std::string("session_reset: {mode: both, at: 6, idle_minutes: 1, time_zone: UTC}\n"),
          std::string("session_reset: {at: 06:30, overrides: [{key: a, at: '6'}]}\n"),
          std::string("summarizer: {providers: [{name: a, command: [b, '']}], at_tokens: 0}\n"),
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
          std::string("session_reset: {mode: weekly}\n"),
          std::string("session_reset: {at: 24}\n"),
          std::string("session_reset: {idle_minutes: 0}\n"),
          std::string("session_reset: {overrides: [{mode: idle}]}\n"),
          std::string("summarizer: {providers: [{name: a}]}\n"),
          std::string("summarizer: {fallback: drop}\n"),
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

/// The map of a list's item or a section, valid without the key that is tried, in its file.
std::string file_with(const Key& key, std::string_view value) {
    const auto with = [&](std::vector<std::pair<std::string_view, std::string_view>> others) {
        std::string map = fmt::format("{{{}: {}", key.name(), value);
        for (const auto& [name, other] : others) {
            if (name != key.name()) map += fmt::format(", {}: {}", name, other);
        }
        return map + "}";
    };
    const auto section = key.section();
    if (section == "webhooks[].") {
        const bool is_secret = key.presence == Presence::one_of;
        return fmt::format(
            "webhooks: [{}]\n",
            is_secret ? with({{"name", "ops"}, {"url", "'https://h/'"}})
                      : with({{"name", "ops"}, {"url", "'https://h/'"}, {"secret_env", "S"}}));
    }
    if (section == "webhooks[].secrets[].") {
        return fmt::format("webhooks: [{{name: ops, url: 'https://h/', secrets: [{}]}}]\n",
                           with({}));
    }
    if (section == "space.gateways[].") {
        return fmt::format("space: {{gateways: [{}]}}\n",
                           with({{"name", "a"}, {"url", "'https://h:7717'"}, {"token_file", "t"}}));
    }
    if (section == "session_reset.overrides[].") {
        // Something that is set, whatever becomes of the key that is tried.
        const auto other = key.name() == "mode" ? "on_reset" : "mode";
        const auto value_of_other = key.name() == "mode" ? "keep" : "idle";
        const bool selects = key.presence == Presence::one_of;
        return fmt::format("session_reset: {{overrides: [{}]}}\n",
                           selects ? with({{other, value_of_other}})
                                   : with({{other, value_of_other}, {"source", "a"}}));
    }
    if (section == "summarizer.providers[].") {
        return fmt::format("summarizer: {{providers: [{}]}}\n",
                           with({{"name", "a"}, {"command", "[a]"}}));
    }
    if (section.empty()) return fmt::format("{}: {}\n", key.path, value);
    return fmt::format("{}: {}\n", section.substr(0, section.size() - 1), with({}));
}

/// Addresses, URLs and command lines, which have a grammar of their own, and names of time zones.
constexpr std::array<std::string_view, 7> known_better{"http.listen",
                                                       "http.hosts",
                                                       "webhooks[].url",
                                                       "space.gateways[].url",
                                                       "session_reset.time_zone",
                                                       "session_reset.overrides[].time_zone",
                                                       "summarizer.providers[].command"};

TEST(KeySchema, AcceptsWhatTheReaderAccepts) {
    knell::testing::expect_agreement(
        config_keys, {.file_with = file_with,
                      .is_accepted = [](const std::string& file) { return reader_accepts(file); },
                      .known_better = known_better});
}

}  // namespace
}  // namespace knell
