#include "daemon/roster.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "config/config.hpp"
#include "deliver/hook_directory.hpp"

namespace knell {

std::vector<Roster::Problem> Roster::reload(const Paths& paths) {
    const auto before = std::exchange(problems_, {});
    reload_webhooks(paths);
    reload_hooks(paths);
    std::vector<Problem> fresh;
    std::ranges::copy_if(problems_, std::back_inserter(fresh), [&](const Problem& problem) {
        return std::ranges::find(before, problem) == before.end();
    });
    return fresh;
}

void Roster::reload_webhooks(const Paths& paths) {
    auto config = read_config(paths.config_file);
    if (!config) {
        for (const auto& problem : config.error()) {
            problems_.push_back({"config.yaml", to_text(problem)});
        }
        return;
    }
    retention_ = config->events;
    webhooks_.clear();
    for (auto& webhook : config->webhooks) {
        auto name = webhook.name;
        webhooks_.emplace(std::move(name), std::move(webhook));
    }
}

void Roster::reload_hooks(const Paths& paths) {
    auto found = read_hooks(paths.hooks_dir);
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

std::vector<Terms> Roster::terms() const {
    std::vector<Terms> terms;
    for (const auto& [name, hook] : hooks_) terms.push_back({name, hook.events, hook.concurrency});
    for (const auto& [name, webhook] : webhooks_) {
        terms.push_back({name, webhook.events, webhook.concurrency});
    }
    return terms;
}

const HookSpec* Roster::hook(const std::string& name) const {
    const auto found = hooks_.find(name);
    return found == hooks_.end() ? nullptr : &found->second;
}

const WebhookSpec* Roster::webhook(const std::string& name) const {
    const auto found = webhooks_.find(name);
    return found == webhooks_.end() ? nullptr : &found->second;
}

}  // namespace knell
