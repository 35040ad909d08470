#include "wire/config_json.hpp"

namespace knell::wire {

namespace {

JsonObject to_json(const ConfigReport::Problem& problem) {
    JsonObject object{{"file", problem.file}};
    if (problem.line != 0) object["line"] = problem.line;
    if (problem.column != 0) object["column"] = problem.column;
    object["message"] = problem.message;
    return object;
}

}  // namespace

JsonObject to_json(const ConfigReport& report) {
    JsonArray problems;
    for (const auto& problem : report.problems) problems.push_back(to_json(problem));
    JsonObject object{{"ok", report.is_ok()}};
    object["problems"] = std::move(problems);
    object["webhooks"] = JsonArray(report.webhooks.begin(), report.webhooks.end());
    object["hooks"] = JsonArray(report.hooks.begin(), report.hooks.end());
    object["remarks"] = JsonArray(report.remarks.begin(), report.remarks.end());
    if (report.events) {
        object["events"] = JsonObject{{"keep_days", report.events->keep_days},
                                      {"keep_count", report.events->keep_count}};
    }
    object["config_file"] = report.config_file;
    object["config_exists"] = report.config_exists;
    object["hooks_dir"] = report.hooks_dir;
    return object;
}

}  // namespace knell::wire
