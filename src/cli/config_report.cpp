#include "cli/config_report.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/text_width.hpp"
#include "config/file_problem.hpp"

namespace knell::cli {

namespace {

using wire::int_at;
using wire::text_at;

std::vector<std::string> texts_at(const JsonObject& object, std::string_view name) {
    std::vector<std::string> texts;
    const auto* array = wire::array_at(object, name);
    if (array == nullptr) return texts;
    for (const auto& item : *array) {
        if (item.is_string()) texts.push_back(one_line(item.get_string()));
    }
    return texts;
}

/// "no hooks", "1 hook (a)", "2 hooks (a, b)"
std::string counted(std::string_view what, const std::vector<std::string>& names) {
    if (names.empty()) return fmt::format("no {}s", what);
    return fmt::format("{} {}{} ({})", names.size(), what, names.size() == 1 ? "" : "s",
                       fmt::join(names, ", "));
}

bool is_error(const JsonObject& problem) {
    return text_at(problem, "level") != "warning";
}

/// "3 errors", "no warnings"
std::string counted(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// The errors, then the warnings, then how many there are of both; "" without any.
std::string problem_lines(const JsonObject& checked) {
    const auto* problems = wire::array_at(checked, "problems");
    if (problems == nullptr || problems->empty()) return {};
    std::string errors;
    std::string warnings;
    std::size_t error_count = 0;
    for (const auto& item : *problems) {
        const auto* problem = item.if_object();
        if (problem == nullptr) continue;
        const TextPlace place{.line = static_cast<int>(int_at(*problem, "line")),
                              .column = static_cast<int>(int_at(*problem, "column"))};
        const auto path = one_line(text_at(*problem, "path"));
        const auto hint = one_line(text_at(*problem, "hint"));
        auto& lines = is_error(*problem) ? errors : warnings;
        if (is_error(*problem)) ++error_count;
        lines +=
            fmt::format("{}: {}: {}{}{}{}{}\n", to_text(one_line(text_at(*problem, "file")), place),
                        is_error(*problem) ? "error" : "warning", path, path.empty() ? "" : ": ",
                        one_line(text_at(*problem, "message")), hint.empty() ? "" : "; ", hint);
    }
    const auto warning_count = problems->size() - error_count;
    auto total = error_count > 0 ? counted(error_count, "error") : std::string{};
    if (warning_count > 0) {
        total += fmt::format("{}{}", total.empty() ? "" : ", ", counted(warning_count, "warning"));
    }
    return fmt::format("{}{}{}\n", errors, warnings, total);
}

/// "" when it could not be read: its problems say so.
std::string config_line(const JsonObject& checked) {
    const auto* events = wire::object_at(checked, "events");
    if (events == nullptr) return {};
    const auto found = wire::bool_at(checked, "config_exists")
                           ? "ok, " + counted("webhook", texts_at(checked, "webhooks"))
                           : "not there, so the defaults hold";
    return fmt::format("{}: {}; events are kept {} days, at most {}\n",
                       one_line(text_at(checked, "config_file")), found,
                       int_at(*events, "keep_days"), int_at(*events, "keep_count"));
}

}  // namespace

bool has_errors(const JsonObject& result) {
    const auto* problems = wire::array_at(result, "problems");
    return problems != nullptr && std::ranges::any_of(*problems, [](const Json& item) {
               const auto* problem = item.if_object();
               return problem != nullptr && is_error(*problem);
           });
}

std::string reload_report(const JsonObject& reloaded) {
    auto text = problem_lines(reloaded);
    if (!wire::bool_at(reloaded, "reloaded")) {
        return text + "config.yaml was not taken; what was read before holds\n";
    }
    const auto changes = texts_at(reloaded, "changes");
    if (changes.empty()) return text + "config.yaml is in force; nothing in it has changed\n";
    text += "config.yaml is in force:\n";
    for (const auto& change : changes) text += fmt::format("  {}\n", change);
    return text;
}

std::string config_report(const JsonObject& checked) {
    auto text = problem_lines(checked);
    if (!checked.contains("hooks_dir")) {
        if (text.empty()) {
            text = fmt::format("{}: ok\n", one_line(text_at(checked, "config_file")));
        }
        for (const auto& remark : texts_at(checked, "remarks")) text += fmt::format("{}\n", remark);
        return text;
    }
    text += config_line(checked);
    text += fmt::format("{}: {}\n", one_line(text_at(checked, "hooks_dir")),
                        counted("hook", texts_at(checked, "hooks")));
    for (const auto& remark : texts_at(checked, "remarks")) text += fmt::format("{}\n", remark);
    return text;
}

}  // namespace knell::cli
