#include "foreign/hermes/settings.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "config/file_problem.hpp"
#include "config/yaml.hpp"
#include "core/limits.hpp"
#include "foreign/hook_file.hpp"
#include "platform/small_file.hpp"

namespace knell::hermes {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t hooks_max = 1000;

const YamlNode* child(const YamlNode* node, std::string_view name) {
    if (node == nullptr || node->kind != YamlNode::Kind::map) return nullptr;
    const auto found = std::ranges::find(node->items, name, &YamlNode::key);
    return found == node->items.end() ? nullptr : &*found;
}

std::optional<std::int64_t> integer(const YamlNode* node) {
    if (node == nullptr || node->kind != YamlNode::Kind::text) return std::nullopt;
    std::int64_t number = 0;
    const auto* end = node->text.data() + node->text.size();
    const auto parsed = std::from_chars(node->text.data(), end, number);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
    return number;
}

void remark_on(Settings& settings) {
    const auto& mode = settings.reset_mode;
    const bool is_known =
        mode.empty() || mode == "none" || mode == "idle" || mode == "daily" || mode == "both";
    if (!is_known) {
        settings.remarks.push_back(
            fmt::format("session_reset.mode: \"{}\" is none of none, idle, daily and both", mode));
    }
    if (settings.idle_minutes && *settings.idle_minutes <= 0) {
        settings.remarks.push_back(
            fmt::format("session_reset.idle_minutes: {} resets a session with every message",
                        *settings.idle_minutes));
    }
    if (settings.at_hour && (*settings.at_hour < 0 || *settings.at_hour > 23)) {
        settings.remarks.push_back(
            fmt::format("session_reset.at_hour: {} is no hour of a day", *settings.at_hour));
    }
    if (settings.retention_days && *settings.retention_days < 1) {
        settings.remarks.push_back(fmt::format(
            "sessions.retention_days: {} keeps nothing that has ended", *settings.retention_days));
    }
}

}  // namespace

Result<Settings> parse_settings(std::string_view text, const std::string& path) {
    const auto parsed = parse_yaml(text, path);
    if (!parsed) return fail(ErrorCode::parse_error, to_text(parsed.error()));
    Settings settings;
    const auto* reset = child(&*parsed, "session_reset");
    if (reset == nullptr) reset = child(child(&*parsed, "gateway"), "session_reset");
    if (const auto* mode = child(reset, "mode")) settings.reset_mode = mode->text;
    settings.idle_minutes = integer(child(reset, "idle_minutes"));
    settings.at_hour = integer(child(reset, "at_hour"));
    settings.process_max_age_hours = integer(child(reset, "bg_process_max_age_hours"));
    const auto* sessions = child(&*parsed, "sessions");
    if (const auto* prune = child(sessions, "auto_prune")) {
        settings.auto_prune = yaml_boolean(prune->text);
    }
    settings.retention_days = integer(child(sessions, "retention_days"));
    remark_on(settings);
    return settings;
}

std::optional<std::chrono::hours> process_age_max(const Settings& settings, int schema) {
    constexpr int bounded_since = 17;
    if (schema < bounded_since) return std::nullopt;
    const auto hours = std::clamp<std::int64_t>(settings.process_max_age_hours.value_or(24), 0,
                                                std::int64_t{24} * 36'500);
    return std::chrono::hours{hours};
}

std::vector<HookSummary> read_hook_summaries(const std::string& hooks_dir) {
    std::vector<HookSummary> hooks;
    std::error_code error;
    for (fs::directory_iterator entry(hooks_dir, error), end; !error && entry != end;
         entry.increment(error)) {
        if (!entry->is_directory(error) || hooks.size() >= hooks_max) continue;
        const auto path = (entry->path() / "HOOK.yaml").string();
        const auto text = read_regular_file(path, limits::config_bytes_max);
        if (!text && text.error().code == ErrorCode::not_found) continue;
        HookSummary hook;
        hook.name = entry->path().filename().string();
        hook.has_handler = fs::exists(entry->path() / "handler.py", error);
        if (!text) {
            hook.problem = fmt::format("HOOK.yaml {}", text.error().message);
        } else if (auto file = foreign::parse_hook_file(*text, path); !file) {
            hook.problem = file.error().empty() ? "HOOK.yaml cannot be understood"
                                                : to_text(file.error().front());
        } else {
            if (!file->name.empty()) hook.name = file->name;
            hook.events = std::move(file->events);
            if (!hook.has_handler) hook.problem = "it has no handler.py";
        }
        hooks.push_back(std::move(hook));
    }
    std::ranges::sort(hooks, {}, &HookSummary::name);
    return hooks;
}

}  // namespace knell::hermes
