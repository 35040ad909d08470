#include "config/config.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/limits.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Config parsed(std::string_view text) {
    auto config = parse_config(text, "/etc/knell/config.yaml", "/home/ann");
    if (config) return std::move(*config);
    for (const auto& problem : config.error()) ADD_FAILURE() << to_text(problem);
    return {};
}

std::vector<std::string> complaints(std::string_view text) {
    std::vector<std::string> texts;
    const auto config = parse_config(text, "/c", "/home/ann");
    EXPECT_FALSE(config);
    if (config) return texts;
    for (const auto& problem : config.error()) texts.push_back(to_text(problem));
    return texts;
}

/// A webhook that is all right, with `more` at its end.
std::string webhook(const std::string& more) {
    return "webhooks:\n  - name: ops\n    url: https://example.org/\n    secret_env: S\n" + more;
}

TEST(Config, WithoutAWordHasDefaults) {
    for (const auto* text : {"", "# later\n", "events:\nwebhooks:\n", "webhooks: []\n"}) {
        const auto config = parsed(text);
        EXPECT_EQ(config.events.keep_for, std::chrono::days{30}) << text;
        EXPECT_EQ(config.events.keep_count, 10'000'000) << text;
        EXPECT_THAT(config.webhooks, IsEmpty()) << text;
    }
}

TEST(Config, SaysHowLongEventsAreKept) {
    const auto config = parsed("events:\n  keep_days: 7\n  keep_count: 5000\n");

    EXPECT_EQ(config.events.keep_for, std::chrono::days{7});
    EXPECT_EQ(config.events.keep_count, 5000);
}

TEST(Config, DaysMayBeWrittenAsSuchOnlyWhole) {
    EXPECT_EQ(parsed("events: {keep_days: 7d}\n").events.keep_for, std::chrono::days{7});
    for (const auto* hours : {"36h", "48h"}) {
        EXPECT_THAT(complaints(std::string("events: {keep_days: ") + hours + "}\n"),
                    ElementsAre("/c:1:10: events.keep_days: must be whole days from 1 to 36500; "
                                "write them as in 30 or 30d"));
    }
}

TEST(Config, SaysWhereHttpClientsAreServed) {
    const auto standard = parsed("").http;
    EXPECT_EQ(standard.listen, "127.0.0.1:7717");
    EXPECT_FALSE(standard.allow_processes);
    EXPECT_EQ(standard.detach_window, std::chrono::minutes{10});
    EXPECT_EQ(standard.turn_window, std::chrono::hours{6});

    const auto http = parsed(
                          "http:\n  listen: 0.0.0.0:0\n  hosts: [knell.example.org]\n"
                          "  behind_proxy: true\n  allow_processes: true\n"
                          "  detach_window: 1m\n")
                          .http;
    EXPECT_EQ(http.listen, "0.0.0.0:0");
    EXPECT_THAT(http.hosts, ElementsAre("knell.example.org"));
    EXPECT_TRUE(http.allow_processes);
    EXPECT_EQ(http.detach_window, std::chrono::minutes{1});
    EXPECT_EQ(parsed("http: {listen: off}\n").http.listen, "off");
}

TEST(Config, BoundsBackgroundProcesses) {
    EXPECT_EQ(parsed("").processes,
              (ProcessSettings{.per_session = limits::processes_per_session_default,
                               .max = limits::processes_default,
                               .output_bytes = limits::process_output_bytes_default,
                               .stale_after = limits::process_stale_default}));
    EXPECT_EQ(parsed("processes: {per_session: 1, max: 65536, output_bytes: 65536, "
                     "stale_after: 2h}\n")
                  .processes,
              (ProcessSettings{.per_session = 1,
                               .max = 65536,
                               .output_bytes = 65536,
                               .stale_after = std::chrono::hours{2}}));
    for (const auto* wrong : {"per_session: 0", "max: 65537", "output_bytes: 65535",
                              "output_bytes: 1M", "stale_after: 59s", "stale_after: 31d"}) {
        EXPECT_EQ(complaints(std::string("processes: {") + wrong + "}\n").size(), 1U) << wrong;
    }
}

TEST(Config, ListensBeyondLoopbackOnlyWhenToldTo) {
    EXPECT_THAT(
        complaints("http: {listen: '0.0.0.0:7717'}\n"),
        ElementsAre(HasSubstr("/c:1:8: http.listen: other machines can reach this address")));
    EXPECT_THAT(complaints("http: {hosts: [https://a, b]}\n"),
                ElementsAre(HasSubstr("/c:1:8: http.hosts: must be names")));
    EXPECT_THAT(complaints("http: {listen: here}\n"), ElementsAre(HasSubstr("ADDRESS:PORT")));
}

TEST(Config, NamesWebhooks) {
    const auto config = parsed(
        "webhooks:\n"
        "  - name: ops\n"
        "    url: https://example.org/knell\n"
        "    events: [session:*, notice, agent:step]\n"
        "    secret_file: /run/secrets/ops\n"
        "    allow_internal: true\n"
        "    timeout: 30\n"
        "    concurrency: 4\n"
        "  - name: local\n"
        "    url: http://127.0.0.1:9000/\n"
        "    secret_env: KNELL_SECRET\n");

    ASSERT_EQ(config.webhooks.size(), 2U);
    const auto& ops = config.webhooks[0];
    EXPECT_EQ(ops.name, "ops");
    EXPECT_EQ(ops.url, "https://example.org/knell");
    EXPECT_TRUE(ops.events.wants(EventType::session_end));
    EXPECT_FALSE(ops.events.wants(EventType::agent_end));
    EXPECT_THAT(ops.secrets, ElementsAre(SecretPlace{.file = "/run/secrets/ops", .variable = ""}));
    EXPECT_TRUE(ops.allow_internal);
    EXPECT_EQ(ops.timeout, std::chrono::seconds{30});
    EXPECT_EQ(ops.concurrency, 4U);
    EXPECT_THAT(ops.remarks, ElementsAre("knell never sends agent:step"));
    const auto& local = config.webhooks[1];
    EXPECT_EQ(local.events, EventFilter::all());
    EXPECT_THAT(local.secrets, ElementsAre(SecretPlace{.file = "", .variable = "KNELL_SECRET"}));
    EXPECT_FALSE(local.allow_internal);
    EXPECT_EQ(local.timeout, limits::webhook_timeout_default);
}

TEST(Config, ASecretIsLookedForBesideTheConfigOrAtHome) {
    const auto config = parsed(
        "webhooks:\n"
        "  - name: ops\n"
        "    url: https://example.org/\n"
        "    secrets: [{file: ops.new}, {file: ~/ops.old}, {env: OPS}]\n");

    ASSERT_EQ(config.webhooks.size(), 1U);
    EXPECT_THAT(config.webhooks[0].secrets,
                ElementsAre(SecretPlace{.file = "/etc/knell/ops.new", .variable = ""},
                            SecretPlace{.file = "/home/ann/ops.old", .variable = ""},
                            SecretPlace{.file = "", .variable = "OPS"}));
}

TEST(Config, EveryMistakeIsToldAtOnceWithItsPlace) {
    EXPECT_THAT(
        complaints("events:\n"
                   "  keep_day: 7\n"
                   "  keep_count: many\n"
                   "webhook: []\n"
                   "webhooks:\n"
                   "  - name: my hook\n"
                   "    url: http://example.org/\n"
                   "    secret_env: S\n"
                   "    retries: 3\n"
                   "    timeout: 61\n"
                   "  - just words\n"),
        ElementsAre(
            "/c:2:3: events.keep_day: there is no such key; did you mean \"keep_days\"?",
            HasSubstr("/c:3:3: events.keep_count: must be a whole number from 1 to "),
            "/c:4:1: webhook: there is no such key; did you mean \"webhooks\"?",
            "/c:6:5: webhooks[1].name: may hold only letters, digits and ._-; choose another",
            HasSubstr("/c:7:5: webhooks[1].url: must begin with https://"),
            "/c:9:5: webhooks[1].retries: there is no such key; write one of: name, url, events, "
            "secret_file, secret_env, secrets, allow_internal, timeout, concurrency",
            HasSubstr("/c:10:5: webhooks[1].timeout: must be from 1s to 1m"),
            "/c:11:5: webhooks[2]: must be keys with values; write them as `key: value`"));
}

TEST(Config, AWebhookHasANameAnAddressAndASecret) {
    EXPECT_THAT(complaints("webhooks:\n  - events: [notice]\n"),
                ElementsAre(HasSubstr("/c:2:5: webhooks[1].name: is missing"),
                            HasSubstr("/c:2:5: webhooks[1].url: is missing"),
                            HasSubstr("openssl rand -base64 32")));
    EXPECT_THAT(
        complaints(webhook("  - name: ops\n    url: https://b/\n    secret_env: S\n")),
        ElementsAre("/c:5:5: webhooks[2].name: another webhook has this name; choose one that is "
                    "not taken"));
}

TEST(Config, ASecretInTheWrongPlaceIsNeverRepeated) {
    for (const auto* more : {"    secret: whsec_abc\n", "    secret_file: whsec_abc\n",
                             "    secrets: [{env: whsec_abc}]\n", "    secrets: [whsec_abc]\n",
                             "    secrets: whsec_abc\n", "    secrets: [{value: whsec_abc}]\n",
                             "    timeout: whsec_abc\n"}) {
        const auto found = complaints(webhook(more));
        ASSERT_EQ(found.size(), 1U) << more;
        EXPECT_FALSE(found.front().contains("abc")) << found.front();
    }
}

TEST(Config, SecretsAreBounded) {
    EXPECT_THAT(
        complaints(webhook("    secrets: [{env: A}, {env: B}, {env: C}, {env: D}]\n")),
        ElementsAre("/c:2:5: webhooks[1]: this webhook has 5 secrets; remove some, at most 4 are "
                    "allowed"));
}

TEST(Config, AnItemOfSecretsIsOneSecret) {
    EXPECT_THAT(
        complaints(webhook("    secrets: [{file: a, env: B}]\n")),
        ElementsAre("/c:5:15: webhooks[1].secrets[1]: names both a file and a variable; make two "
                    "items of it"));
    EXPECT_THAT(
        complaints(webhook("    secrets: [{}]\n")),
        ElementsAre("/c:5:15: webhooks[1].secrets[1]: must name where a secret is; write `file: "
                    "PATH` or `env: NAME`"));
}

std::vector<std::string> settings(std::string_view text) {
    std::vector<std::string> lines;
    for (const auto& setting : parsed(text).settings) {
        lines.push_back(setting.path + "=" + shown_value(*setting.key, setting.value) +
                        (setting.place ? to_text("", *setting.place) : ""));
    }
    return lines;
}

TEST(Config, TellsWhatIsSetAndWhere) {
    EXPECT_THAT(
        settings(""),
        ElementsAre(
            "events.keep_days=30", "events.keep_count=10000000", "http.listen=127.0.0.1:7717",
            "http.hosts=none", "http.behind_proxy=false", "http.trusted_network=false",
            "http.allow_processes=false", "http.detach_window=10m", "http.turn_window=6h",
            "processes.per_session=64", "processes.max=4096", "processes.output_bytes=1048576",
            "processes.stale_after=30m", "session_reset.mode=none",
            "session_reset.idle_minutes=1440", "session_reset.at=04:00",
            "session_reset.time_zone=local", "session_reset.process_max_age=1d",
            "session_reset.on_reset=warn", "guard.errors=3", "guard.same_call=3",
            "guard.same_tool=12", "guard.normal_tools=Bash, Read, Edit, Write, shell, terminal",
            "guard.cycle=4", "guard.breaker=advise", "guard.cool_down=1m", "summarizer.at_tokens=0",
            "summarizer.fallback=keep", "summarizer.tail_messages=20", "summarizer.cool_down=10m",
            "webhooks=none", "space.gateways=none", "session_reset.overrides=none",
            "summarizer.providers=none"));
    EXPECT_THAT(
        settings("events: {keep_days: 14d}\nwebhooks:\n  - name: ops\n"
                 "    url: https://example.org/T0K3N\n    timeout: 30\n"
                 "    secrets:\n      - file: ops.secret\n      - env: OPS\n"),
        ElementsAre(
            "events.keep_days=14:1:10", "events.keep_count=10000000", "http.listen=127.0.0.1:7717",
            "http.hosts=none", "http.behind_proxy=false", "http.trusted_network=false",
            "http.allow_processes=false", "http.detach_window=10m", "http.turn_window=6h",
            "processes.per_session=64", "processes.max=4096", "processes.output_bytes=1048576",
            "processes.stale_after=30m", "session_reset.mode=none",
            "session_reset.idle_minutes=1440", "session_reset.at=04:00",
            "session_reset.time_zone=local", "session_reset.process_max_age=1d",
            "session_reset.on_reset=warn", "guard.errors=3", "guard.same_call=3",
            "guard.same_tool=12", "guard.normal_tools=Bash, Read, Edit, Write, shell, terminal",
            "guard.cycle=4", "guard.breaker=advise", "guard.cool_down=1m", "summarizer.at_tokens=0",
            "summarizer.fallback=keep", "summarizer.tail_messages=20", "summarizer.cool_down=10m",
            "webhooks=ops:2:1", "webhooks[ops].name=ops:3:5",
            "webhooks[ops].url=https://example.org/...:4:5", "webhooks[ops].events=*",
            "webhooks[ops].allow_internal=false", "webhooks[ops].timeout=30s:5:5",
            "webhooks[ops].concurrency=1",
            "webhooks[ops].secrets[1].file=/etc/knell/ops.secret:7:9",
            "webhooks[ops].secrets[2].env=OPS:8:9", "space.gateways=none",
            "session_reset.overrides=none", "summarizer.providers=none"));
}

class ConfigFile : public ::testing::Test {
  protected:
    std::string write(const std::string& text, mode_t mode) const {
        auto path = root_ + "/config.yaml";
        std::ofstream(path) << text;
        EXPECT_EQ(::chmod(path.c_str(), mode), 0);
        return path;
    }

    const testing::TempFolder temp_;
    const std::string root_ = temp_.path();
};

TEST_F(ConfigFile, MayBeMissing) {
    const auto config = read_config(root_ + "/config.yaml");

    ASSERT_TRUE(config);
    EXPECT_EQ(config->events, Retention{});
    EXPECT_THAT(config->webhooks, IsEmpty());
}

TEST_F(ConfigFile, IsRead) {
    const auto config = read_config(write("events: {keep_days: 3}\n", 0600));

    ASSERT_TRUE(config);
    EXPECT_EQ(config->events.keep_for, std::chrono::days{3});
}

TEST_F(ConfigFile, ThatAnybodyCouldChangeIsRefused) {
    const auto path = write("", 0666);

    const auto config = read_config(path);

    ASSERT_FALSE(config);
    EXPECT_THAT(config.error(),
                ElementsAre(FileProblem{path, {}, "anybody could change it: chmod o-w " + path}));
}

TEST_F(ConfigFile, ADirectoryInItsPlaceIsAProblem) {
    const auto config = read_config(root_);

    ASSERT_FALSE(config);
    EXPECT_THAT(config.error(), ElementsAre(FileProblem{root_, {}, "is not a regular file"}));
}

}  // namespace
}  // namespace knell
