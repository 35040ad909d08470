#include "config/config_webhooks.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "config/event_choice.hpp"
#include "config/webhook_url_check.hpp"
#include "core/limits.hpp"
#include "core/subscriber_name.hpp"

namespace knell {

namespace {

namespace fs = std::filesystem;

constexpr auto how_to_make_a_secret =
    R"sh(printf 'whsec_%s\n' "$(openssl rand -base64 32)" > knell.secret; chmod 600 knell.secret)sh";

/// People paste the secret where its place belongs.
bool looks_like_a_secret(std::string_view text) {
    return text.starts_with("whsec_");
}

std::string resolved(const std::string& file, const ConfigPlace& place) {
    if (file.starts_with("~/")) return (fs::path(place.home) / file.substr(2)).string();
    return (fs::path(place.config_file).parent_path() / file).lexically_normal().string();
}

bool is_variable_name(std::string_view text) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9');
    });
}

void read_secret_file(YamlFields& fields, std::string_view name, const ConfigPlace& place,
                      std::vector<SecretPlace>& secrets) {
    const auto file = fields.text(name);
    if (!file) return;
    if (file->empty() || looks_like_a_secret(*file)) {
        fields.reject(name, "must name the file that holds the secret, not be the secret");
        return;
    }
    secrets.push_back({.file = resolved(*file, place), .variable = {}});
}

void read_secret_variable(YamlFields& fields, std::string_view name,
                          std::vector<SecretPlace>& secrets) {
    const auto variable = fields.text(name);
    if (!variable) return;
    if (!is_variable_name(*variable) || looks_like_a_secret(*variable)) {
        fields.reject(
            name, "must name the environment variable that holds the secret, not be the secret");
        return;
    }
    secrets.push_back({.file = {}, .variable = *variable});
}

/// One of the list: {file: PATH} or {env: NAME}.
void read_listed_secret(const YamlNode& item, FileProblems& problems, const ConfigPlace& place,
                        std::vector<SecretPlace>& secrets) {
    if (item.kind != YamlNode::Kind::map || item.items.empty()) {
        problems.add(item.place, "secrets: each must be `file: PATH` or `env: NAME`");
        return;
    }
    YamlFields fields(item, problems);
    const auto before = secrets.size();
    read_secret_file(fields, "file", place, secrets);
    read_secret_variable(fields, "env", secrets);
    fields.refuse_other_keys();
    if (secrets.size() == before + 2) {
        problems.add(item.place, "secrets: one item names both a file and a variable; make it two");
    }
}

std::vector<SecretPlace> read_secrets(YamlFields& fields, FileProblems& problems,
                                      const ConfigPlace& place, TextPlace at) {
    std::vector<SecretPlace> secrets;
    const bool is_missing = fields.node("secret_file") == nullptr &&
                            fields.node("secret_env") == nullptr &&
                            fields.node("secrets") == nullptr;
    read_secret_file(fields, "secret_file", place, secrets);
    read_secret_variable(fields, "secret_env", secrets);
    const auto* list = fields.list("secrets");
    if (list != nullptr) {
        for (const auto& item : *list) read_listed_secret(item, problems, place, secrets);
    }
    if (is_missing || (list != nullptr && list->empty() && secrets.empty())) {
        problems.add(at, fmt::format("this webhook has no secret, and nothing is sent unsigned; "
                                     "make one with: {}; then write: secret_file: knell.secret",
                                     how_to_make_a_secret));
    }
    if (secrets.size() > limits::webhook_secrets_max) {
        problems.add(at, fmt::format("this webhook has {} secrets; at most {} are allowed",
                                     secrets.size(), limits::webhook_secrets_max));
    }
    return secrets;
}

std::string read_name(YamlFields& fields) {
    const auto name = fields.text("name");
    if (fields.node("name") == nullptr) {
        fields.reject("name", "is missing; give the webhook a name, as in `name: ops`");
    }
    if (!name) return {};
    if (const auto why = why_not_a_subscriber_name(*name)) fields.reject("name", *why);
    return *name;
}

std::string read_url(YamlFields& fields) {
    const auto url = fields.text("url");
    if (fields.node("url") == nullptr) {
        fields.reject("url", "is missing; write where to send to, as in `url: https://HOST/PATH`");
    }
    if (!url) return {};
    if (const auto why = why_not_a_webhook_url(*url)) fields.reject("url", *why);
    return *url;
}

EventChoice read_events(YamlFields& fields) {
    const auto patterns = fields.texts("events", limits::event_patterns_max);
    if (!patterns) return {.filter = EventFilter::all(), .remarks = {}};
    if (patterns->empty()) {
        fields.reject("events", "names none; list some, or leave the key out for all");
    }
    return choose_events(*patterns);
}

WebhookSpec read_webhook(const YamlNode& item, FileProblems& problems, const ConfigPlace& place) {
    WebhookSpec spec;
    YamlFields fields(item, problems);
    if (item.kind != YamlNode::Kind::map) return spec;
    spec.name = read_name(fields);
    spec.url = read_url(fields);
    auto events = read_events(fields);
    spec.events = events.filter;
    spec.remarks = std::move(events.remarks);
    spec.secrets = read_secrets(fields, problems, place, item.place);
    spec.allow_internal = fields.boolean("allow_internal").value_or(false);
    constexpr std::chrono::seconds second{1};
    spec.timeout = fields.duration("timeout", second, limits::webhook_timeout_max, second)
                       .value_or(spec.timeout);
    if (const auto concurrency = fields.integer(
            "concurrency", 1, static_cast<std::int64_t>(limits::delivery_concurrency_max))) {
        spec.concurrency = static_cast<std::size_t>(*concurrency);
    }
    fields.refuse_key("secret",
                      "does not belong into this file; put it into one of its own, name that with "
                      "secret_file, and make a new secret if others could read this one");
    fields.refuse_other_keys();
    return spec;
}

}  // namespace

std::vector<WebhookSpec> read_webhooks(YamlFields& root, FileProblems& problems,
                                       const ConfigPlace& place) {
    std::vector<WebhookSpec> webhooks;
    const auto* list = root.list("webhooks");
    if (list == nullptr) return webhooks;
    if (list->size() > limits::subscribers_max) {
        root.reject("webhooks", fmt::format("there are {}; at most {} are allowed", list->size(),
                                            limits::subscribers_max));
        return webhooks;
    }
    for (const auto& item : *list) {
        auto spec = read_webhook(item, problems, place);
        const bool is_taken =
            std::ranges::find(webhooks, spec.name, &WebhookSpec::name) != webhooks.end();
        if (is_taken && !spec.name.empty()) {
            problems.add(item.place, "another webhook has this name; choose one that is not taken");
        }
        webhooks.push_back(std::move(spec));
    }
    return webhooks;
}

}  // namespace knell
