#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "core/guard.hpp"

namespace knell::testing {

/// The guard as one would describe it: keeps every call there was, and counts from the end each
/// time.
struct GuardModel {
    GuardPolicy policy;
    std::vector<ToolReport> history;

    static bool is_same(const ToolReport& a, const ToolReport& b) {
        return a.call.tool == b.call.tool && a.call.args == b.call.args && a.ok == b.ok &&
               a.result == b.result && (a.ok || a.error == b.error);
    }
    /// How many of the last ones are so; `holds` is asked with places from the end.
    std::uint32_t last_ones(const std::function<bool(std::size_t)>& holds) const {
        std::uint32_t count = 0;
        while (count < history.size() && holds(count)) ++count;
        return count;
    }
    const ToolReport& from_end(std::size_t place) const {
        return history.at(history.size() - 1 - place);
    }

    std::uint32_t streak(NudgeKind kind) const {
        switch (kind) {
            case NudgeKind::errors:
                return last_ones([this](std::size_t i) { return !from_end(i).ok; });
            case NudgeKind::same_call:
                if (!from_end(0).call.args) return 0;
                return last_ones(
                    [this](std::size_t i) { return is_same(from_end(i), from_end(0)); });
            case NudgeKind::same_tool:
                return last_ones([this](std::size_t i) {
                    return from_end(i).call.tool == from_end(0).call.tool;
                });
            case NudgeKind::cycle:
                break;
        }
        // Every other one the same, and neighbours different.
        return last_ones([this](std::size_t i) {
            if (i >= 1 && is_same(from_end(i), from_end(i - 1))) return false;
            return i < 2 || is_same(from_end(i), from_end(i - 2));
        });
    }
    std::uint32_t threshold(NudgeKind kind) const {
        const std::array all{policy.errors, policy.same_call, policy.same_tool, policy.cycle};
        return all.at(static_cast<std::size_t>(kind));
    }
    /// 1, 2, 3: of which level; 0: nothing is told.
    std::uint32_t level(NudgeKind kind) const {
        const auto count = streak(kind);
        const auto first = threshold(kind);
        if (first == 0 || count < first) return 0;
        if (kind == NudgeKind::errors) return count % first == 0 ? std::min(count / first, 3U) : 0;
        if (kind == NudgeKind::same_tool &&
            std::ranges::find(policy.normal_tools, from_end(0).call.tool) !=
                policy.normal_tools.end()) {
            return 0;
        }
        std::uint32_t level = 1;
        for (std::uint64_t at = first; at <= count; at *= 2, ++level) {
            if (at == count) return std::min(level, 3U);
        }
        return 0;
    }
    struct Told {
        NudgeKind kind;
        std::uint32_t level;
        std::uint32_t streak;
        bool operator==(const Told&) const = default;
    };
    static Told told(const Stuck& stuck) {
        return {stuck.kind, static_cast<std::uint32_t>(stuck.level) + 1, stuck.streak};
    }
    std::optional<Told> take(const ToolReport& report) {
        history.push_back(report);
        for (const auto kind :
             {NudgeKind::errors, NudgeKind::same_call, NudgeKind::same_tool, NudgeKind::cycle}) {
            if (const auto found = level(kind)) return Told{kind, found, streak(kind)};
        }
        return std::nullopt;
    }
};

}  // namespace knell::testing
