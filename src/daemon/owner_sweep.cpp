#include "daemon/owner_sweep.hpp"

#include <utility>

#include "writer/sweep.hpp"

namespace knell {

SweepReport sweep_owners(const SurveyReply& survey, const ProcessTable& processes,
                         ProcessWatch& watch, bool dry_run) {
    const auto is_held = [&watch](const ProcessIdentity& process) {
        return watch.how(process) == WatchList::How::held;
    };
    auto findings = look_at_owners(survey, processes, is_held, dry_run);
    if (!dry_run) {
        for (const auto& process : findings.look_again) watch.watch(process);
    }
    return std::move(findings.report);
}

}  // namespace knell
