// A config.yaml as anybody may write it.  Finds crashes, in the library too; a webhook that is
// accepted is whole, what is refused says where and why, and nothing differs from itself.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "config/config.hpp"
#include "config/config_changes.hpp"
#include "config/webhook_url_check.hpp"
#include "core/subscriber_name.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace knell;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto config = parse_config(text, "/k/config.yaml", "/home/ann");
    if (!config) {
        CHECK(!config.error().empty());
        for (const auto& problem : config.error()) {
            CHECK(problem.place >= TextPlace{});
            CHECK(!problem.message.empty());
        }
        return 0;
    }
    CHECK(config_changes(config->settings, config->settings).empty());
    for (const auto& setting : config->settings) {
        CHECK(!setting.path.empty());
        static_cast<void>(shown_value(*setting.key, setting.value));
        static_cast<void>(json_value(*setting.key, setting.value));
    }
    for (const auto& webhook : config->webhooks) {
        CHECK(!why_not_a_subscriber_name(webhook.name));
        CHECK(!why_not_a_webhook_url(webhook.url));
        CHECK(!webhook.secrets.empty());
        CHECK(webhook.timeout.count() >= 1);
        CHECK(webhook.concurrency >= 1);
    }
    const auto& reset = config->reset_policies->base();
    CHECK(reset.idle.count() >= 1);
    const auto due = next_reset(reset, WallTime{});
    CHECK(due.has_value() == (reset.mode != ResetMode::none));
    CHECK(!due || due->at > WallTime{});
    for (const auto& provider : config->summarizer.providers) {
        CHECK(!provider.command.empty() && !provider.command.front().empty());
    }
    return 0;
}
