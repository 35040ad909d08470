#include "foreign/hook_file.hpp"

#include <fmt/format.h>

#include "config/split_words.hpp"
#include "config/yaml.hpp"
#include "config/yaml_fields.hpp"
#include "core/limits.hpp"

namespace knell::foreign {

namespace {

std::vector<std::string> read_events(YamlFields& fields) {
    const auto events = fields.texts("events", limits::event_patterns_max);
    const bool is_missing = fields.node("events") == nullptr;
    if (is_missing || (events && events->empty())) {
        fields.reject("events", "names none; list what the hook is to hear, as in [session:end]");
    }
    return events.value_or(std::vector<std::string>{});
}

std::vector<std::string> read_command(YamlFields& fields) {
    const auto* node = fields.node("command");
    if (node == nullptr) return {};
    auto words = fields.texts("command", limits::command_words_max);
    if (!words) return {};
    if (node->kind == YamlNode::Kind::text) {
        auto split = split_words(words->front());
        if (!split) {
            fields.reject("command", split.error().message);
            return {};
        }
        words = std::move(*split);
    }
    if (words->empty() || words->front().empty()) {
        fields.reject("command", "names no program; write it first, or leave the key out");
    } else if (words->size() > limits::command_words_max) {
        fields.reject("command", fmt::format("is longer than {} words; put them into a script",
                                             limits::command_words_max));
    }
    return std::move(*words);
}

std::optional<int> read_concurrency(YamlFields& fields) {
    const auto value = fields.integer("concurrency", 1,
                                      static_cast<std::int64_t>(limits::delivery_concurrency_max));
    return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

}  // namespace

std::expected<HookFile, std::vector<FileProblem>> parse_hook_file(std::string_view text,
                                                                  std::string_view path) {
    const auto root = parse_yaml(text, path);
    if (!root) return std::unexpected(std::vector{root.error()});
    FileProblems problems{std::string(path)};
    YamlFields fields(*root, problems);
    // Of a file that holds no keys, or one of them twice, nothing more is worth saying.
    if (!problems.empty()) return std::unexpected(problems.take());
    HookFile file;
    file.name = fields.text("name").value_or("");
    file.description = fields.prose("description").value_or("");
    file.events = read_events(fields);
    file.command = read_command(fields);
    constexpr std::chrono::seconds second{1};
    file.timeout = fields.duration("timeout", second, limits::hook_timeout_max, second);
    file.concurrency = read_concurrency(fields);
    if (!problems.empty()) return std::unexpected(problems.take());
    return file;
}

}  // namespace knell::foreign
