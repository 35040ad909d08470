// A hook tried without a daemon.

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "config/nearest_word.hpp"
#include "daemon/daemon.hpp"
#include "daemon/hooks_report.hpp"
#include "deliver/hook/directory.hpp"
#include "deliver/hook/runner.hpp"
#include "platform/clock.hpp"
#include "platform/poller.hpp"

namespace knell {

namespace {

std::unexpected<Error> no_such_hook(const HookDirectory& found, const std::string& name) {
    for (const auto& problem : found.problems) {
        if (problem.hook != name) continue;
        return fail(ErrorCode::not_found,
                    fmt::format("{} cannot be used: {}", name, to_text(problem.what)));
    }
    std::vector<std::string> known;
    for (const auto& hook : found.hooks) known.push_back(hook.name);
    const auto meant = nearest_word(name, known);
    return fail(
        ErrorCode::not_found,
        fmt::format("no hook {}{}; without a daemon only hooks can be tried, webhooks cannot", name,
                    meant.empty() ? "" : fmt::format("; did you mean {}?", meant)));
}

/// One attempt to its end, which its time limit bounds.
Finished run_to_end(HookRunner& runner) {
    Poller poller;
    for (;;) {
        auto finished = runner.take_finished();
        if (!finished.empty()) return std::move(finished.front());
        const auto now = read_clocks().steady;
        Awaited awaited;
        runner.add_descriptors(awaited.descriptors);
        awaited.no_later_than(runner.next_deadline());
        poller.wait(std::move(awaited), now);
        runner.step(read_clocks().steady);
    }
}

}  // namespace

Result<HookTry> try_hook(const Paths& paths, const std::string& name) {
    const auto found = read_hooks(paths.hooks_dir);
    const auto hook = std::ranges::find(found.hooks, name, &HookSpec::name);
    if (hook == found.hooks.end()) return no_such_hook(found, name);
    const auto begun = read_clocks();
    const std::string node = "no-daemon";
    HookRunner runner(node);
    runner.start(1, *hook,
                 std::make_shared<const RenderedEvent>(sample_event(hook->events, node, 1, begun)),
                 begun.steady, HookRunner::IfShort::fail);
    auto outcome = run_to_end(runner).outcome;
    return HookTry{.delivered = outcome.kind == Outcome::Kind::delivered,
                   .took = std::chrono::duration_cast<std::chrono::milliseconds>(
                       read_clocks().steady - begun.steady),
                   .what = std::move(outcome.what),
                   .output = std::move(outcome.output)};
}

}  // namespace knell
