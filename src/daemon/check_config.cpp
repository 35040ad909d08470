#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>
#include <unistd.h>

#include "config/config.hpp"
#include "config/config_summarizer.hpp"
#include "core/limits.hpp"
#include "daemon/check_hermes.hpp"
#include "daemon/config_problems.hpp"
#include "daemon/daemon.hpp"
#include "deliver/hook/directory.hpp"
#include "deliver/webhook/secret.hpp"
#include "platform/environment.hpp"
#include "platform/local_zone.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

void add_remarks(ConfigReport& report, std::string_view kind, const std::string& name,
                 const std::vector<std::string>& remarks) {
    for (const auto& remark : remarks) {
        report.remarks.push_back(fmt::format("{} {}: {}", kind, name, remark));
    }
}

/// A config and where it stands.
class Check {
  public:
    Check(ConfigReport& report, const Config& config, Environment environment)
        : report_(report), config_(config), environment_(environment) {}

    void run() {
        for (const auto& webhook : config_.webhooks) {
            report_.webhooks.push_back(webhook.name);
            for (const auto& secret : webhook.secrets) add_secret(secret, webhook);
            add_remarks(report_, "webhook", webhook.name, webhook.remarks);
        }
        for (const auto& remark : remarks_about(config_.summarizer)) {
            report_.remarks.push_back("summarizer: " + remark);
        }
        for (const auto& gateway : config_.gateways) {
            const auto token = read_secret({.file = gateway.token_file});
            if (token) continue;
            add(fmt::format("space.gateways[{}].", gateway.name), gateway.token_file,
                token.error().message);
        }
    }

  private:
    /// By the rule that delivery has: what passes here can sign there.
    void add_secret(const SecretPlace& secret, const WebhookSpec& webhook) {
        if (secret.file.empty() && environment_ != Environment::daemons) {
            report_.remarks.push_back(
                fmt::format("webhook {}: ${} is looked for in the daemon's environment, not in "
                            "this one; `knell rpc config.check` asks the daemon",
                            webhook.name, secret.variable));
            return;
        }
        const auto key = read_signing_key(secret);
        if (key) return;
        add(fmt::format("webhooks[{}].", webhook.name),
            secret.file.empty() ? secret.variable : secret.file, key.error().message);
    }

    /// About a file or variable that a key of that item names.
    void add(const std::string& item, const std::string& named, const std::string& why) {
        const auto found = std::ranges::find_if(config_.settings, [&](const Setting& setting) {
            const auto* text = std::get_if<std::string>(&setting.value);
            return setting.path.starts_with(item) && text != nullptr && *text == named;
        });
        const bool is_known = found != config_.settings.end();
        const auto place = is_known ? found->place.value_or(TextPlace{}) : TextPlace{};
        add_problem(report_.problems,
                    make_problem(report_.file, place, is_known ? found->path : "", why));
    }

    ConfigReport& report_;
    const Config& config_;
    const Environment environment_;
};

void check_usable(ConfigReport& report, UsableConfig&& read, Environment environment) {
    for (auto& problem : read.problems) {
        problem.file = report.file;
        add_problem(report.problems, problem);
    }
    Check(report, read.config, environment).run();
    if (!read.is_whole()) return;
    const auto& events = read.config.events;
    const auto days = std::chrono::floor<std::chrono::days>(events.keep_for);
    report.events = {.keep_days = days.count(), .keep_count = events.keep_count};
}

void check_hooks(ConfigReport& report, const std::string& hooks_dir) {
    report.hooks_dir = hooks_dir;
    const auto hooks = read_hooks(hooks_dir);
    for (const auto& hook : hooks.hooks) {
        report.hooks.push_back(hook.name);
        add_remarks(report, "hook", hook.name, hook.remarks);
    }
    for (const auto& problem : hooks.problems) add_problem(report.problems, problem.what);
}

/// One that is not in its place yet, wherever it is and whoever may write to it.
void check_other(ConfigReport& report, const ConfigQuestion& what, const Paths& paths,
                 Environment environment) {
    // What it names is looked for beside it, and of a text where the config is.
    std::error_code unknown;
    const auto absolute = std::filesystem::absolute(what.file, unknown).string();
    const auto path = what.text || unknown ? paths.config_file : absolute;
    const auto text = what.text ? Result<std::string>(*what.text)
                                : read_regular_file(absolute, limits::config_bytes_max);
    report.config_exists = text.has_value();
    if (!text) {
        add_problem(report.problems, make_problem(report.file, {}, "",
                                                  fmt::format("{}; name a file that can be read",
                                                              text.error().message)));
    } else if (what.is_hermes) {
        check_hermes(report, *text, what.text ? "" : path);
    } else {
        check_usable(report, usable_part(*text, path, environment_variable("HOME"), local_zone()),
                     environment);
    }
}

void put_errors_first(std::vector<ConfigReport::Problem>& problems) {
    std::vector<ConfigReport::Problem> warnings;
    std::ranges::copy_if(problems, std::back_inserter(warnings),
                         [](const auto& problem) { return !problem.is_error; });
    std::erase_if(problems, [](const auto& problem) { return !problem.is_error; });
    std::ranges::move(warnings, std::back_inserter(problems));
}

}  // namespace

ConfigReport check_config(const ConfigQuestion& what, const Paths& paths, Environment environment) {
    ConfigReport report;
    if (what.file.empty() && !what.text) {
        report.file = paths.config_file;
        report.config_exists = ::access(paths.config_file.c_str(), F_OK) == 0;
        check_usable(report, read_usable_config(paths.config_file), environment);
        check_hooks(report, paths.hooks_dir);
    } else {
        report.file = what.text ? "text" : what.file;
        check_other(report, what, paths, environment);
    }
    put_errors_first(report.problems);
    return report;
}

}  // namespace knell
