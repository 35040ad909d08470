#include "wire/config_json.hpp"

namespace knell::wire {

namespace {

JsonArray to_json(const std::vector<ConfigReport::Problem>& problems) {
    JsonArray array;
    for (const auto& problem : problems) {
        JsonObject object{{"file", problem.file}};
        if (problem.line != 0) object["line"] = problem.line;
        if (problem.column != 0) object["column"] = problem.column;
        object["path"] = problem.path;
        object["level"] = problem.is_error ? "error" : "warning";
        object["message"] = problem.message;
        object["hint"] = problem.hint;
        array.push_back(std::move(object));
    }
    return array;
}

JsonArray to_json(const std::vector<std::string>& texts) {
    return JsonArray(texts.begin(), texts.end());
}

}  // namespace

JsonObject to_json(const ConfigReport& report) {
    JsonObject object{{"ok", report.is_ok()}, {"file", report.file}};
    object["problems"] = to_json(report.problems);
    object["webhooks"] = to_json(report.webhooks);
    object["hooks"] = to_json(report.hooks);
    object["remarks"] = to_json(report.remarks);
    if (report.events) {
        object["events"] = JsonObject{{"keep_days", report.events->keep_days},
                                      {"keep_count", report.events->keep_count}};
    }
    object["config_file"] = report.file;
    object["config_exists"] = report.config_exists;
    if (!report.hooks_dir.empty()) object["hooks_dir"] = report.hooks_dir;
    return object;
}

JsonObject to_json(const ReloadReport& report) {
    JsonObject object{{"reloaded", report.is_taken}};
    object["changes"] = to_json(report.changes);
    object["problems"] = to_json(report.problems);
    return object;
}

}  // namespace knell::wire
