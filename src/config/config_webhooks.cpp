#include "config/config_webhooks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "config/binding.hpp"
#include "config/event_choice.hpp"
#include "config/keys.hpp"
#include "core/limits.hpp"

namespace knell {

namespace {

constexpr auto how_to_make_a_secret =
    R"sh(printf 'whsec_%s\n' "$(openssl rand -base64 32)" > knell.secret; chmod 600 knell.secret)sh";

void set_events(WebhookSpec& webhook, Value&& value) {
    auto chosen = choose_events(std::get<std::vector<std::string>>(value));
    webhook.events = chosen.filter;
    webhook.remarks = std::move(chosen.remarks);
}

void add_secret_file(WebhookSpec& webhook, Value&& value) {
    webhook.secrets.push_back({.file = std::get<std::string>(std::move(value)), .variable = {}});
}

void add_secret_variable(WebhookSpec& webhook, Value&& value) {
    webhook.secrets.push_back({.file = {}, .variable = std::get<std::string>(std::move(value))});
}

constexpr std::array webhook_bindings{
    bind<&WebhookSpec::name>("webhooks[].name"),
    bind<&WebhookSpec::url>("webhooks[].url"),
    Binding<WebhookSpec>{"webhooks[].events", KeyType::texts, set_events},
    Binding<WebhookSpec>{"webhooks[].secret_file", KeyType::text, add_secret_file},
    Binding<WebhookSpec>{"webhooks[].secret_env", KeyType::text, add_secret_variable},
    bind<&WebhookSpec::allow_internal>("webhooks[].allow_internal"),
    bind<&WebhookSpec::timeout>("webhooks[].timeout"),
    bind<&WebhookSpec::concurrency>("webhooks[].concurrency"),
};
static_assert(binds_all_of(webhook_bindings, config_keys, "webhooks[]."));

constexpr std::array secret_bindings{
    bind<&SecretPlace::file>("webhooks[].secrets[].file"),
    bind<&SecretPlace::variable>("webhooks[].secrets[].env"),
};
static_assert(binds_all_of(secret_bindings, config_keys, "webhooks[].secrets[]."));

bool is_written(const YamlNode& map, std::string_view name) {
    const auto found = std::ranges::find(map.items, name, &YamlNode::key);
    return found != map.items.end() && found->kind != YamlNode::Kind::nothing;
}

/// Reads the list, one item after the other, to the settings of one webhook too.
class WebhookReader {
  public:
    WebhookReader(const ConfigPlace& place, FileProblems& problems, std::vector<Setting>& settings)
        : place_(place), problems_(problems), settings_(settings) {}

    WebhookSpec read(const YamlNode& item, std::size_t number) {
        WebhookSpec webhook;
        at_ = item_path("webhooks[].", number);
        auto values = read_keys(config_keys, item, "webhooks[].", at_, place_, problems_);
        if (item.kind != YamlNode::Kind::map) return webhook;
        apply(webhook_bindings, values, webhook);
        label_ = fmt::format("webhooks[{}].", webhook.name);
        record(values.settings, label_);
        const auto* listed = values.find_items("webhooks[].secrets");
        if (listed != nullptr) {
            std::size_t secret = 0;
            for (const auto& node : *listed->nodes) read_listed_secret(node, ++secret, webhook);
        }
        check_secrets(item, webhook, /*lists_none=*/listed != nullptr && listed->nodes->empty());
        return webhook;
    }

  private:
    void record(std::vector<Setting>& settings, const std::string& label) {
        for (auto& setting : settings) {
            setting.path = label + std::string(setting.key->name());
            settings_.push_back(std::move(setting));
        }
    }

    /// One of the list: {file: PATH} or {env: NAME}.
    void read_listed_secret(const YamlNode& item, std::size_t number, WebhookSpec& webhook) {
        const auto path = fmt::format("{}secrets[{}]", at_, number);
        // A key without a value is missing: it would leave the webhook without a secret.
        const bool says_nothing = std::ranges::all_of(item.items, [](const YamlNode& value) {
            return value.kind == YamlNode::Kind::nothing;
        });
        if (item.kind != YamlNode::Kind::map || says_nothing) {
            problems_.add(item.place, path,
                          "must name where a secret is; write `file: PATH` or `env: NAME`");
            return;
        }
        SecretPlace secret;
        auto values =
            read_keys(config_keys, item, "webhooks[].secrets[].", path + ".", place_, problems_);
        apply(secret_bindings, values, secret);
        if (values.settings.empty()) return;
        if (values.settings.size() > 1) {
            problems_.add(item.place, path,
                          "names both a file and a variable; make two items of it");
        }
        webhook.secrets.push_back(std::move(secret));
        record(values.settings, fmt::format("{}secrets[{}].", label_, number));
    }

    /// Of the webhook that is read, for problems.
    std::string path() const { return at_.substr(0, at_.size() - 1); }

    void check_secrets(const YamlNode& item, const WebhookSpec& webhook, bool lists_none) {
        const bool names_any = is_written(item, "secret_file") || is_written(item, "secret_env") ||
                               is_written(item, "secrets");
        if (!names_any || (lists_none && webhook.secrets.empty())) {
            problems_.add(item.place, path(),
                          fmt::format("this webhook has no secret, and nothing is sent unsigned; "
                                      "make one with: {}; then write: secret_file: knell.secret",
                                      how_to_make_a_secret));
        }
        if (webhook.secrets.size() > limits::webhook_secrets_max) {
            problems_.add(item.place, path(),
                          fmt::format("this webhook has {} secrets; remove some, at most {} are "
                                      "allowed",
                                      webhook.secrets.size(), limits::webhook_secrets_max));
        }
    }

    const ConfigPlace& place_;
    FileProblems& problems_;
    std::vector<Setting>& settings_;
    std::string label_;  // of the webhook that is read, in the paths of its settings
    std::string at_;     // the same in the paths of its problems
};

}  // namespace

std::vector<WebhookSpec> read_webhooks(const KeyValues& root, const ConfigPlace& place,
                                       FileProblems& problems, std::vector<Setting>& settings) {
    std::vector<WebhookSpec> webhooks;
    Setting list{.key = config_keys.find("webhooks"), .path = "webhooks", .value = {}, .place = {}};
    std::vector<std::string> names;
    std::vector<Setting> of_webhooks;
    WebhookReader reader(place, problems, of_webhooks);
    if (const auto* items = root.find_items("webhooks")) {
        list.place = items->place;
        std::size_t number = 0;
        for (const auto& item : *items->nodes) {
            auto webhook = reader.read(item, ++number);
            if (!webhook.name.empty() && std::ranges::find(names, webhook.name) != names.end()) {
                problems.add(item.place, item_path("webhooks[].", number) + "name",
                             "another webhook has this name; choose one that is not taken");
            }
            names.push_back(webhook.name);
            webhooks.push_back(std::move(webhook));
        }
    }
    list.value = std::move(names);
    settings.push_back(std::move(list));
    std::ranges::move(of_webhooks, std::back_inserter(settings));
    return webhooks;
}

}  // namespace knell
