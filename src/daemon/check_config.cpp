#include <chrono>
#include <optional>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/config.hpp"
#include "daemon/daemon.hpp"
#include "deliver/hook_directory.hpp"

namespace knell {

namespace {

/// What only a look at the disk shows.  Variables are the daemon's own and cannot be looked at from
/// here.
std::optional<FileProblem> problem_of(const SecretPlace& secret, const WebhookSpec& webhook) {
    if (secret.file.empty()) return std::nullopt;
    const auto problem = [&](std::string_view what) {
        return FileProblem{secret.file, 0,
                           fmt::format("the secret of webhook {} {}", webhook.name, what)};
    };
    struct stat found{};
    if (::stat(secret.file.c_str(), &found) != 0) {
        return problem("is not there; make it, or correct where it is");
    }
    if (::access(secret.file.c_str(), R_OK) != 0) return problem("cannot be read; chmod 600");
    if ((found.st_mode & (S_IROTH | S_IWOTH)) != 0) {
        return problem("can be read or changed by anybody; chmod 600");
    }
    if (found.st_size == 0) return problem("is empty; make one");
    return std::nullopt;
}

/// Collects the report, part by part.
class Report {
  public:
    void add(const FileProblem& problem) {
        JsonObject object{{"file", problem.file}};
        if (problem.line != 0) object["line"] = problem.line;
        object["message"] = problem.message;
        problems_.push_back(std::move(object));
    }
    void add(const WebhookSpec& webhook) {
        webhooks_.push_back(Json(webhook.name));
        for (const auto& secret : webhook.secrets) {
            if (const auto problem = problem_of(secret, webhook)) add(*problem);
        }
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
    void add_remarks(std::string_view kind, const std::string& name,
                     const std::vector<std::string>& remarks) {
        for (const auto& remark : remarks) {
            remarks_.push_back(Json(fmt::format("{} {}: {}", kind, name, remark)));
        }
    }

    JsonArray problems_;
    JsonArray webhooks_;
    JsonArray hooks_;
    JsonArray remarks_;
};

}  // namespace

JsonObject check_config(const Paths& paths) {
    Report report;
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
