#include <chrono>

#include <fmt/format.h>
#include <unistd.h>

#include "config/config.hpp"
#include "config/config_summarizer.hpp"
#include "daemon/daemon.hpp"
#include "deliver/hook/directory.hpp"
#include "deliver/webhook/secret.hpp"

namespace knell {

namespace {

void add(ConfigReport& report, const FileProblem& problem) {
    report.problems.push_back(
        {problem.file, problem.place.line, problem.place.column, problem.message});
}

void add_remarks(ConfigReport& report, std::string_view kind, const std::string& name,
                 const std::vector<std::string>& remarks) {
    for (const auto& remark : remarks) {
        report.remarks.push_back(fmt::format("{} {}: {}", kind, name, remark));
    }
}

/// By the rule that delivery has: what passes here can sign there.
void add_secret(ConfigReport& report, const SecretPlace& secret, const WebhookSpec& webhook,
                Environment environment) {
    if (secret.file.empty() && environment != Environment::daemons) {
        report.remarks.push_back(
            fmt::format("webhook {}: ${} is looked for in the daemon's environment, not in this "
                        "one; `knell rpc config.check` asks the daemon",
                        webhook.name, secret.variable));
        return;
    }
    const auto key = read_signing_key(secret);
    if (key) return;
    add(report, FileProblem{report.config_file,
                            {},
                            fmt::format("webhook {}: {}", webhook.name, key.error().message)});
}

void add(ConfigReport& report, const Config& config, Environment environment) {
    for (const auto& webhook : config.webhooks) {
        report.webhooks.push_back(webhook.name);
        for (const auto& secret : webhook.secrets) {
            add_secret(report, secret, webhook, environment);
        }
        add_remarks(report, "webhook", webhook.name, webhook.remarks);
    }
    for (const auto& remark : remarks_about(config.summarizer)) {
        report.remarks.push_back("summarizer: " + remark);
    }
    for (const auto& gateway : config.gateways) {
        const auto token = read_secret({.file = gateway.token_file});
        if (token) continue;
        const auto why = fmt::format("gateway {}: {}", gateway.name, token.error().message);
        add(report, FileProblem{report.config_file, {}, why});
    }
    const auto days = std::chrono::floor<std::chrono::days>(config.events.keep_for);
    report.events = {.keep_days = days.count(), .keep_count = config.events.keep_count};
}

}  // namespace

ConfigReport check_config(const Paths& paths, Environment environment) {
    ConfigReport report;
    report.config_file = paths.config_file;
    report.config_exists = ::access(paths.config_file.c_str(), F_OK) == 0;
    report.hooks_dir = paths.hooks_dir;
    if (const auto config = read_config(paths.config_file)) {
        add(report, *config, environment);
    } else {
        for (const auto& problem : config.error()) add(report, problem);
    }
    const auto hooks = read_hooks(paths.hooks_dir);
    for (const auto& hook : hooks.hooks) {
        report.hooks.push_back(hook.name);
        add_remarks(report, "hook", hook.name, hook.remarks);
    }
    for (const auto& problem : hooks.problems) add(report, problem.what);
    return report;
}

}  // namespace knell
