#include "cli/config_report.hpp"

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

std::string problem_lines(const JsonObject& checked) {
    std::string text;
    const auto* problems = wire::array_at(checked, "problems");
    if (problems == nullptr) return text;
    for (const auto& item : *problems) {
        const auto* problem = item.if_object();
        if (problem == nullptr) continue;
        const TextPlace place{.line = static_cast<int>(int_at(*problem, "line")),
                              .column = static_cast<int>(int_at(*problem, "column"))};
        text += to_text({one_line(text_at(*problem, "file")), place,
                         one_line(text_at(*problem, "message"))}) +
                "\n";
    }
    return text;
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

std::string config_report(const JsonObject& checked) {
    auto text = problem_lines(checked);
    text += config_line(checked);
    text += fmt::format("{}: {}\n", one_line(text_at(checked, "hooks_dir")),
                        counted("hook", texts_at(checked, "hooks")));
    for (const auto& remark : texts_at(checked, "remarks")) text += fmt::format("{}\n", remark);
    return text;
}

}  // namespace knell::cli
