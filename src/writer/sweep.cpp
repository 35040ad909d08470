#include "writer/sweep.hpp"

#include <fmt/format.h>

#include "watch/process_check.hpp"

namespace knell {

namespace {

void name_sessions(JsonArray& list, const SurveyReply::Owner& owner, const JsonObject& why) {
    for (const auto& named : owner.named) {
        JsonObject object;
        object["session_id"] = named.id.text();
        object["pid"] = owner.process.pid;
        for (const auto& [name, value] : why) object[name] = value;
        if (why.contains("reason") && named.parks) object["parks"] = true;
        list.push_back(std::move(object));
    }
}

}  // namespace

SweepFindings look_at_owners(const SurveyReply& survey, const ProcessTable& processes,
                             const std::function<bool(const ProcessIdentity&)>& is_held,
                             bool dry_run) {
    SweepFindings findings;
    JsonArray ended;
    JsonArray left_alone;
    std::size_t ended_count = 0;
    std::size_t left_count = survey.leases + survey.parked;
    for (const auto& owner : survey.owners) {
        auto finding = look_for(owner.process, processes);
        if (auto* gone = std::get_if<Gone>(&finding)) {
            ended_count += owner.sessions;
            name_sessions(ended, owner,
                          {{"reason", name_of(reason_for(gone->departure, /*is_command=*/false))},
                           {"evidence", gone->departure.evidence}});
            findings.look_again.push_back(owner.process);
            continue;
        }
        left_count += owner.sessions;
        const auto* unclear = std::get_if<CannotTell>(&finding);
        if (unclear != nullptr && is_held(owner.process)) {
            name_sessions(left_alone, owner,
                          {{"verdict", "alive"},
                           {"why", fmt::format("process {} is watched through its pidfd",
                                               owner.process.pid)}});
        } else if (unclear != nullptr) {
            name_sessions(left_alone, owner, {{"verdict", "unknown"}, {"why", unclear->why}});
            findings.look_again.push_back(owner.process);
        } else {
            name_sessions(left_alone, owner,
                          {{"verdict", "alive"},
                           {"why", fmt::format("process {} (start ticks {}) is there",
                                               owner.process.pid, owner.process.start_ticks)}});
            if (owner.is_unknown) findings.look_again.push_back(owner.process);
        }
    }
    auto& report = findings.report;
    report["dry_run"] = dry_run;
    report["ended"] = std::move(ended);
    report["ended_count"] = ended_count;
    report["left_alone"] = std::move(left_alone);
    report["left_alone_count"] = left_count;
    if (survey.next) report["next"] = *survey.next;
    report["leases"] = JsonObject{
        {"count", survey.leases},
        {"why",
         "each was renewed within its TTL; one that is not ends by itself when it falls due"}};
    report["parked"] = JsonObject{{"count", survey.parked},
                                  {"why", "waiting to be claimed within their park window"}};
    return findings;
}

}  // namespace knell
