// What agents report of their tools' calls, and what they ask before one.

#include <array>

#include <fmt/format.h>

#include "world.hpp"

namespace knell::sim {

namespace {

constexpr std::array<std::string_view, 3> tools{"shell", "read", "edit"};

ToolCall call_of(std::uint32_t how) {
    ToolCall call{.tool = std::string(tools.at(how % 5 % tools.size()))};
    if (how / 8 % 4 != 0) call.args = how / 32 % 2;
    return call;
}

ToolReport report_of(std::uint32_t how) {
    ToolReport report{.call = call_of(how)};
    report.ok = how / 64 % 2 == 0;
    if (!report.ok) report.error = how / 128 % 4 == 0 ? "no such file" : "refused";
    if (how / 512 % 2 == 0) report.result = how / 1024 % 2;
    return report;
}

/// The same again, two by turns, or anything.
std::vector<ToolReport> reports_of(const Action& action) {
    const auto first = report_of(action.how);
    const auto second = report_of(action.how / 4096);
    std::vector<ToolReport> reports;
    auto next = action.fate;
    for (std::uint32_t left = action.fate / 4 % 9 + 1; left > 0; --left, next = next * 69069 + 1) {
        switch (action.fate % 4) {
            case 0:
                reports.push_back(report_of(next / 8));
                break;
            case 1:
                reports.push_back(left % 2 == 0 ? first : second);
                break;
            default:
                reports.push_back(first);
        }
    }
    return reports;
}

}  // namespace

/// One that is open, where there is one: who has ended reports nothing.
std::string World::pick_reporter(std::uint32_t which) const {
    std::vector<std::string> open;
    for (const auto& [id, known] : ledger_.sessions()) {
        if (known.open) open.push_back(id);
    }
    // The first ones most of the time, so that much is reported of them.
    if (open.empty() || which % 8 == 0) return pick_session(which);
    return open[which % 3 != 0 ? 0 : which / 3 % open.size()];
}

void World::report_tools(const Action& action) {
    const bool is_wrong = action.kind == Kind::report_wrong;
    const auto id = pick_reporter(action.which);
    ReportTools command{
        .session_id = SessionId(id), .generation = generation_of(id, is_wrong), .reports = {}};
    for (auto& report : reports_of(action)) command.reports.push_back({std::move(report)});
    if (action.fate / 64 % 4 != 0) return send(action, std::move(command));
    // Each names its own session, and each session stands once.
    ReportTools of_many;
    for (const auto& [other, known] : ledger_.sessions()) {
        if (of_many.reports.size() >= command.reports.size()) break;
        auto& one = command.reports[of_many.reports.size()];
        of_many.reports.push_back(
            {std::move(one.report), SessionId(other), generation_of(other, is_wrong)});
    }
    if (!of_many.reports.empty()) send(action, std::move(of_many));
}

bool World::perform_on_tools(const Action& action) {
    switch (action.kind) {
        case Kind::report_tools:
        case Kind::report_wrong:
            report_tools(action);
            return true;
        case Kind::check_tool: {
            const auto id = pick_reporter(action.which);
            // Several at once: a breaker that has cooled down lets one of them through.
            for (auto left = action.fate % 3 + 1; left > 0; --left) {
                send(action, CheckTool{.session_id = SessionId(id),
                                       .generation = generation_of(id, action.fate / 4 % 8 == 0),
                                       .call = call_of(action.how + left / 3)});
            }
            return true;
        }
        default:
            return false;
    }
}

}  // namespace knell::sim
