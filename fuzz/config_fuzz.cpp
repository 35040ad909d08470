// A config.yaml as anybody may write it.  Finds crashes, in the library too; whatever is in it
// there is a config that does no harm, a webhook that is taken is whole, what is refused says where
// and why, and nothing differs from itself.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "config/config.hpp"
#include "config/config_changes.hpp"
#include "config/webhook_url_check.hpp"
#include "core/subscriber_name.hpp"

namespace {

using namespace knell;

void check(const std::vector<FileProblem>& problems) {
    for (const auto& problem : problems) {
        CHECK(problem.place >= (TextPlace{.line = 1, .column = 1}));
        CHECK(!problem.message.empty());
        CHECK(!to_text(problem).contains('\n'));
    }
}

/// Of the whole file, and of what is left of one with errors in it.
void check(const Config& config) {
    CHECK(config_changes(config.settings, config.settings).empty());
    for (const auto& setting : config.settings) {
        CHECK(!setting.path.empty());
        static_cast<void>(shown_value(*setting.key, setting.value));
        static_cast<void>(json_value(*setting.key, setting.value));
    }
    for (const auto& webhook : config.webhooks) {
        CHECK(!why_not_a_subscriber_name(webhook.name));
        CHECK(!why_not_a_webhook_url(webhook.url));
        CHECK(!webhook.secrets.empty());
        CHECK(webhook.timeout.count() >= 1);
        CHECK(webhook.concurrency >= 1);
        CHECK(std::ranges::count(config.webhooks, webhook.name, &WebhookSpec::name) == 1);
    }
    const auto& reset = config.reset_policies->base();
    CHECK(reset.idle.count() >= 1);
    const auto due = next_reset(reset, WallTime{});
    CHECK(due.has_value() == (reset.mode != ResetMode::none));
    CHECK(!due || due->at > WallTime{});
    for (const auto& provider : config.summarizer.providers) {
        CHECK(!provider.command.empty() && !provider.command.front().empty());
    }
    CHECK(!why_not_listen(config.http));
    CHECK(config.processes.max >= 1 && config.processes.per_session >= 1);
}

void check_fallbacks(const UsableConfig& read) {
    const auto& config = read.config;
    CHECK(config.fallbacks.empty() == read.is_whole());
    CHECK(!config.has_fallen_back("http") || config.http.listen == "off");
    CHECK(!config.has_fallen_back("session_reset") || !config.reset_policies->resets_any());
    CHECK(!config.has_fallen_back("events") || config.events.keep_for > std::chrono::days{36'500});
    CHECK(!config.has_fallen_back("summarizer") || config.summarizer == SummarizerSettings{});
    CHECK(!config.has_fallen_back("space") || config.gateways.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto read = usable_part(text, "/k/config.yaml", "/home/ann");
    check(read.problems);
    check(read.config);
    check_fallbacks(read);
    CHECK(parse_config(text, "/k/config.yaml", "/home/ann").has_value() == read.is_whole());
    return 0;
}
