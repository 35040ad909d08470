#include "cli/config_settings.hpp"

#include <filesystem>

#include "cli/table.hpp"
#include "cli/text_width.hpp"

namespace knell::cli {

namespace {

/// "30 days" where a bare number would leave one guessing.
std::string value_with_unit(const Setting& setting) {
    auto value = shown_value(*setting.key, setting.value);
    if (setting.key->type == KeyType::duration && setting.key->unit != "seconds") {
        value += " " + std::string(setting.key->unit);
    }
    return one_line(value);
}

}  // namespace

std::string settings_table(const std::vector<Setting>& settings, const std::string& config_file,
                           const Terminal& terminal) {
    const auto file = std::filesystem::path(config_file).filename().string();
    Table table({{.title = "KEY"}, {.title = "VALUE", .shrink_to = 16}, {.title = "FROM"}});
    for (const auto& setting : settings) {
        const bool is_default = !setting.place;
        table.add(
            {{setting.path},
             {value_with_unit(setting)},
             {is_default ? "default" : to_text(file, {.line = setting.place->line, .column = 0}),
              is_default ? Tone::faint : Tone::plain}});
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
        object["from"] = setting.place ? "file" : "default";
        if (setting.place) {
            object["line"] = setting.place->line;
            object["column"] = setting.place->column;
        }
        array.push_back(std::move(object));
    }
    return array;
}

}  // namespace knell::cli
