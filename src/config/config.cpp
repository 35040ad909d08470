#include "config/config.hpp"

#include "config/config_webhooks.hpp"
#include "config/yaml.hpp"
#include "config/yaml_fields.hpp"
#include "core/limits.hpp"
#include "platform/environment.hpp"
#include "platform/file_trust.hpp"

namespace knell {

namespace {

Retention read_retention(YamlFields& root, FileProblems& problems) {
    Retention retention;
    const auto* section = root.node("events");
    if (section == nullptr) return retention;
    YamlFields fields(*section, problems);
    constexpr std::chrono::days day{1};
    if (const auto kept = fields.duration("keep_days", day, limits::keep_days_max, day)) {
        retention.keep_for = std::chrono::floor<std::chrono::hours>(*kept);
    }
    if (const auto count = fields.integer("keep_count", 1, limits::keep_count_max)) {
        retention.keep_count = *count;
    }
    fields.refuse_other_keys();
    return retention;
}

}  // namespace

ConfigOrProblems parse_config(std::string_view text, const std::string& path,
                              const std::string& home) {
    const auto document = parse_yaml(text, path);
    if (!document) return std::unexpected(std::vector{document.error()});
    Config config;
    if (document->kind == YamlNode::Kind::nothing) return config;
    FileProblems problems(path);
    YamlFields root(*document, problems);
    config.events = read_retention(root, problems);
    config.webhooks = read_webhooks(root, problems, {.config_file = path, .home = home});
    root.refuse_other_keys();
    if (!problems.empty()) return std::unexpected(problems.take());
    return config;
}

ConfigOrProblems read_config(const std::string& path) {
    const auto refuse = [&](const Error& error) {
        return std::unexpected(std::vector{FileProblem{path, {}, error.message}});
    };
    const auto text = read_only_ours(path, limits::config_bytes_max);
    if (!text && text.error().code == ErrorCode::not_found) return Config{};
    if (!text) return refuse(text.error());
    return parse_config(*text, path, environment_variable("HOME"));
}

std::vector<std::string> variables_in_config(const Paths& paths) {
    std::vector<std::string> variables;
    const auto config = read_config(paths.config_file);
    if (!config) return variables;
    for (const auto& webhook : config->webhooks) {
        for (const auto& secret : webhook.secrets) {
            if (!secret.variable.empty()) variables.push_back(secret.variable);
        }
    }
    return variables;
}

}  // namespace knell
