// About agents that are stuck: what they are told follows from every call that was reported, and
// from no other; and it is on record.

#include <algorithm>

#include <fmt/format.h>

#include "promises.hpp"

namespace knell::sim {

namespace {

/// What the step told, as what had to be told.
std::vector<ToolTruth::Nudge> nudges_in(const StepFacts& step) {
    std::vector<ToolTruth::Nudge> nudges;
    for (const auto& event : step.told) {
        if (event.type != EventType::agent_stuck) continue;
        nudges.push_back({event.session_id, testing::GuardModel::told(event.stuck.value())});
    }
    return nudges;
}

}  // namespace

std::string nudged_wrongly(const Scene& scene) {
    // What it kept went with it.
    if (scene.step.by_former || scene.step.by_start) return {};
    auto truth = scene.ledger.tools;
    truth.clear_due();
    for (const auto& said : scene.step.said) {
        if (auto what = truth.take(said, scene.ledger, scene.step); !what.empty()) return what;
    }
    const auto told = nudges_in(scene.step);
    if (told == truth.due()) return {};
    return fmt::format("agents were told {} times that they are stuck, on record it is {} times",
                       truth.due().size(), told.size());
}

}  // namespace knell::sim
