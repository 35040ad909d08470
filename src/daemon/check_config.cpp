#include <chrono>

#include <fmt/format.h>
#include <unistd.h>

#include "config/config.hpp"
#include "daemon/daemon.hpp"
#include "deliver/hook/directory.hpp"
#include "deliver/webhook/secret.hpp"

namespace knell {

namespace {

/// Collects the report, part by part.
class Report {
  public:
    Report(std::string config_file, Environment environment)
        : config_file_(std::move(config_file)), environment_(environment) {}

    void add(const FileProblem& problem) {
        JsonObject object{{"file", problem.file}};
        if (problem.place.line != 0) object["line"] = problem.place.line;
        if (problem.place.column != 0) object["column"] = problem.place.column;
        object["message"] = problem.message;
        problems_.push_back(std::move(object));
    }
    void add(const WebhookSpec& webhook) {
        webhooks_.push_back(Json(webhook.name));
        for (const auto& secret : webhook.secrets) add_secret(secret, webhook);
        add_remarks("webhook", webhook.name, webhook.remarks);
    }
    void add(const HookSpec& hook) {
        hooks_.push_back(Json(hook.name));
        add_remarks("hook", hook.name, hook.remarks);
    }

    JsonObject take() {
        JsonObject report{{"ok", problems_.empty()}};
        report["problems"] = std::move(problems_);
        report["webhooks"] = std::move(webhooks_);
        report["hooks"] = std::move(hooks_);
        report["remarks"] = std::move(remarks_);
        return report;
    }

  private:
    /// By the rule that delivery has: what passes here can sign there.
    void add_secret(const SecretPlace& secret, const WebhookSpec& webhook) {
        if (secret.file.empty() && environment_ != Environment::daemons) {
            remarks_.push_back(
                Json(fmt::format("webhook {}: ${} is looked for in the daemon's environment, not "
                                 "in this one; `knell rpc config.check` asks the daemon",
                                 webhook.name, secret.variable)));
            return;
        }
        const auto key = read_signing_key(secret);
        if (key) return;
        add(FileProblem{
            config_file_, {}, fmt::format("webhook {}: {}", webhook.name, key.error().message)});
    }
    void add_remarks(std::string_view kind, const std::string& name,
                     const std::vector<std::string>& remarks) {
        for (const auto& remark : remarks) {
            remarks_.push_back(Json(fmt::format("{} {}: {}", kind, name, remark)));
        }
    }

    const std::string config_file_;
    const Environment environment_;
    JsonArray problems_;
    JsonArray webhooks_;
    JsonArray hooks_;
    JsonArray remarks_;
};

}  // namespace

JsonObject check_config(const Paths& paths, Environment environment) {
    Report report(paths.config_file, environment);
    const auto config = read_config(paths.config_file);
    if (config) {
        for (const auto& webhook : config->webhooks) report.add(webhook);
    } else {
        for (const auto& problem : config.error()) report.add(problem);
    }
    const auto hooks = read_hooks(paths.hooks_dir);
    for (const auto& hook : hooks.hooks) report.add(hook);
    for (const auto& problem : hooks.problems) report.add(problem.what);

    auto result = report.take();
    if (config) {
        const auto days = std::chrono::floor<std::chrono::days>(config->events.keep_for);
        result["events"] =
            JsonObject{{"keep_days", days.count()}, {"keep_count", config->events.keep_count}};
    }
    result["config_file"] = paths.config_file;
    result["config_exists"] = ::access(paths.config_file.c_str(), F_OK) == 0;
    result["hooks_dir"] = paths.hooks_dir;
    return result;
}

}  // namespace knell
