#include "cli/config_settings.hpp"

#include <algorithm>
#include <filesystem>

#include "cli/table.hpp"
#include "cli/text_width.hpp"

namespace knell::cli {

namespace {

/// "30 days" where a bare number would leave one guessing.
std::string value_with_unit(const Setting& setting) {
    // Bounds that nothing reaches.
    if (setting.is_fallback && setting.path.starts_with("events.")) return "all";
    auto value = shown_value(*setting.key, setting.value);
    if (setting.key->type == KeyType::duration && setting.key->unit != "seconds") {
        value += " " + std::string(setting.key->unit);
    }
    return one_line(value);
}

std::string origin_of(const Setting& setting, const std::string& file) {
    if (!setting.override_from.empty()) return one_line(setting.override_from);
    if (setting.is_fallback) return "in error";
    if (!setting.place) return "default";
    return to_text(file, {.line = setting.place->line, .column = 0});
}

}  // namespace

void apply_overrides(std::vector<Setting>& settings, const JsonObject& status) {
    const auto* overrides = wire::array_at(status, "overrides");
    if (overrides == nullptr) return;
    for (const auto& item : *overrides) {
        const auto* one = item.if_object();
        if (one == nullptr) continue;
        const auto found = std::ranges::find(settings, wire::text_at(*one, "key"), &Setting::path);
        if (found == settings.end() || !std::holds_alternative<std::string>(found->value)) continue;
        found->value = std::string(wire::text_at(*one, "value"));
        found->override_from = wire::text_at(*one, "from");
    }
}

std::string settings_table(const std::vector<Setting>& settings, const std::string& config_file,
                           const Terminal& terminal) {
    const auto file = std::filesystem::path(config_file).filename().string();
    Table table({{.title = "KEY"}, {.title = "VALUE", .shrink_to = 16}, {.title = "FROM"}});
    for (const auto& setting : settings) {
        const bool is_default =
            !setting.place && !setting.is_fallback && setting.override_from.empty();
        const auto tone = setting.is_fallback ? Tone::bad : Tone::plain;
        table.add({{setting.path},
                   {value_with_unit(setting)},
                   {origin_of(setting, file), is_default ? Tone::faint : tone}});
    }
    return table.render(terminal);
}

JsonArray settings_json(const std::vector<Setting>& settings) {
    JsonArray array;
    for (const auto& setting : settings) {
        JsonObject object{{"key", setting.path},
                          {"value", json_value(*setting.key, setting.value)}};
        if (std::holds_alternative<std::chrono::seconds>(setting.value) &&
            object["value"].is_int64()) {
            object["unit"] = setting.key->unit;
        }
        if (!setting.override_from.empty()) {
            object["from"] = "override";
            object["by"] = setting.override_from;
        } else if (setting.is_fallback) {
            object["from"] = "fallback";
        } else {
            object["from"] = setting.place ? "file" : "default";
        }
        if (setting.place) {
            object["line"] = setting.place->line;
            object["column"] = setting.place->column;
        }
        array.push_back(std::move(object));
    }
    return array;
}

}  // namespace knell::cli
