#include "daemon/subscriber_config.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "deliver/hook/directory.hpp"

namespace knell {

std::vector<SubscriberConfig::Problem> SubscriberConfig::reload(const ConfigHolder::Reload& config,
                                                                const std::string& hooks_dir) {
    const auto before = std::exchange(problems_, {});
    take_webhooks(config);
    reload_hooks(hooks_dir);
    std::vector<Problem> fresh;
    std::ranges::copy_if(problems_, std::back_inserter(fresh), [&](const Problem& problem) {
        return std::ranges::find(before, problem) == before.end();
    });
    return fresh;
}

void SubscriberConfig::take_webhooks(const ConfigHolder::Reload& config) {
    for (const auto& problem : config.problems) {
        problems_.push_back({"config.yaml", to_text(problem)});
    }
    config_ = config.config;
    webhooks_.clear();
    for (const auto& webhook : config_->webhooks) webhooks_.emplace(webhook.name, &webhook);
}

void SubscriberConfig::reload_hooks(const std::string& hooks_dir) {
    auto found = read_hooks(hooks_dir);
    for (const auto& problem : found.problems) {
        problems_.push_back({problem.hook, to_text(problem.what)});
    }
    hooks_.clear();
    for (auto& hook : found.hooks) {
        if (webhooks_.contains(hook.name)) {
            problems_.push_back({hook.name, fmt::format("{}/HOOK.yaml: a webhook in config.yaml is "
                                                        "called {} already; rename one of them",
                                                        hook.directory, hook.name)});
            continue;
        }
        auto name = hook.name;
        hooks_.emplace(std::move(name), std::move(hook));
    }
}

std::vector<SubscriberSpec> SubscriberConfig::specs() const {
    std::vector<SubscriberSpec> specs;
    for (const auto& [name, hook] : hooks_) {
        specs.push_back({name, hook.events, hook.concurrency, hook.retries});
    }
    for (const auto& [name, webhook] : webhooks_) {
        specs.push_back({name, webhook->events, webhook->concurrency});
    }
    return specs;
}

const HookSpec* SubscriberConfig::hook(const std::string& name) const {
    const auto found = hooks_.find(name);
    return found == hooks_.end() ? nullptr : &found->second;
}

const WebhookSpec* SubscriberConfig::webhook(const std::string& name) const {
    const auto found = webhooks_.find(name);
    return found == webhooks_.end() ? nullptr : found->second;
}

}  // namespace knell
