#include "writer/sweep.hpp"

#include <fmt/format.h>

#include "watch/process_check.hpp"

namespace knell {

namespace {

void add_ended(SweepReport& report, const SurveyReply::Owner& owner, const Departure& departure) {
    report.ended_count += owner.sessions;
    for (const auto& named : owner.named) {
        report.ended.push_back({.session_id = named.id,
                                .pid = owner.process.pid,
                                .reason = reason_for(departure, /*is_command=*/false),
                                .evidence = departure.evidence,
                                .parks = named.parks});
    }
}

void add_left_alone(SweepReport& report, const SurveyReply::Owner& owner, bool is_unknown,
                    const std::string& why) {
    report.left_alone_count += owner.sessions;
    for (const auto& named : owner.named) {
        report.left_alone.push_back({.session_id = named.id,
                                     .pid = owner.process.pid,
                                     .is_unknown = is_unknown,
                                     .why = why});
    }
}

}  // namespace

SweepFindings look_at_owners(const SurveyReply& survey, const ProcessTable& processes,
                             const std::function<bool(const ProcessIdentity&)>& is_held,
                             bool dry_run) {
    SweepFindings findings;
    auto& report = findings.report;
    report.dry_run = dry_run;
    report.left_alone_count = survey.leases + survey.parked;
    report.next = survey.next;
    report.leases = survey.leases;
    report.parked = survey.parked;
    for (const auto& owner : survey.owners) {
        auto finding = look_for(owner.process, processes);
        if (auto* gone = std::get_if<Gone>(&finding)) {
            add_ended(report, owner, gone->departure);
            findings.look_again.push_back(owner.process);
            continue;
        }
        const auto* unclear = std::get_if<CannotTell>(&finding);
        if (unclear != nullptr && is_held(owner.process)) {
            add_left_alone(
                report, owner, /*is_unknown=*/false,
                fmt::format("process {} is watched through its pidfd", owner.process.pid));
        } else if (unclear != nullptr) {
            add_left_alone(report, owner, /*is_unknown=*/true, unclear->why);
            findings.look_again.push_back(owner.process);
        } else {
            add_left_alone(report, owner, /*is_unknown=*/false,
                           fmt::format("process {} (start ticks {}) is there", owner.process.pid,
                                       owner.process.start_ticks));
            if (owner.is_unknown) findings.look_again.push_back(owner.process);
        }
    }
    return findings;
}

}  // namespace knell
