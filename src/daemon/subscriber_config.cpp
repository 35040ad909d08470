#include "daemon/subscriber_config.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "deliver/hook/directory.hpp"
#include "platform/path_names.hpp"

namespace knell {

namespace {

/// Of problems of the file: no hook or webhook has this name.
constexpr std::string_view config_name = "config.yaml";

}  // namespace

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

void SubscriberConfig::add(std::string name, FileProblem what) {
    auto message = PathNames::from_environment().in(to_text(what));
    problems_.push_back({std::move(name), std::move(message), std::move(what)});
}

std::vector<FileProblem> SubscriberConfig::hook_problems() const {
    std::vector<FileProblem> problems;
    for (const auto& problem : problems_) {
        if (problem.name != config_name) problems.push_back(problem.what);
    }
    return problems;
}

void SubscriberConfig::take_webhooks(const ConfigHolder::Reload& config) {
    for (const auto& problem : config.problems) {
        if (problem.level == ProblemLevel::warning) continue;
        add(std::string(config_name), problem);
    }
    config_ = config.config;
    webhooks_.clear();
    for (const auto& webhook : config_->webhooks) webhooks_.emplace(webhook.name, &webhook);
}

void SubscriberConfig::reload_hooks(const std::string& hooks_dir) {
    auto found = read_hooks(hooks_dir);
    for (auto& problem : found.problems) add(problem.hook, std::move(problem.what));
    hooks_.clear();
    for (auto& hook : found.hooks) {
        if (webhooks_.contains(hook.name)) {
            add(hook.name, make_problem(hook.directory + "/HOOK.yaml", {}, "name",
                                        fmt::format("a webhook in config.yaml is called {} "
                                                    "already; rename one of them",
                                                    hook.name)));
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
