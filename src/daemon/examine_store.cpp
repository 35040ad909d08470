#include "daemon/examine_store.hpp"

#include <fmt/format.h>

#include "daemon/claims.hpp"
#include "platform/clock.hpp"
#include "watch/process_check.hpp"
#include "watch/process_table.hpp"

namespace knell {

namespace {

using Judged = StoreExamination::Judged;
using Verdict = StoreExamination::Verdict;

Judged judge_process(const ProcessIdentity& process, const ProcessTable& table) {
    const auto found = look_for(process, table);
    if (std::holds_alternative<StillThere>(found)) {
        return {Verdict::alive, fmt::format("process {} runs", process.pid)};
    }
    if (const auto* gone = std::get_if<Gone>(&found)) {
        return {Verdict::dead, gone->departure.evidence.empty()
                                   ? fmt::format("process {} is gone", process.pid)
                                   : gone->departure.evidence};
    }
    return {Verdict::unknown, std::get<CannotTell>(found).why};
}

/// A lease and a hosted session are the daemon's to judge: it hears of them, we do not.
Judged judge(const Session& session, bool has_daemon, const ProcessTable& table) {
    if (session.parked_since) {
        return {Verdict::unknown, "parked: it waits for its next owner"};
    }
    if (session.owner.kind == OwnerKind::process) {
        return judge_process(session.owner.process, table);
    }
    const auto* kind = session.owner.kind == OwnerKind::lease ? "its lease" : "the daemon";
    if (!has_daemon) {
        return {Verdict::unknown, fmt::format("{} keeps it, and no daemon runs", kind)};
    }
    if (session.unknown_since) return {Verdict::unknown, "its owner cannot be checked"};
    return {Verdict::alive,
            fmt::format("{} keeps it; last sign {}", kind, format_rfc3339(session.last_seen_at))};
}

}  // namespace

Result<StoreExamination> examine_store(const Paths& paths) {
    StoreExamination found;
    found.path = paths.store_file;
    found.daemon = lock_holder(paths.lock_file);
    auto census = sqlite::take_census(paths.store_file);
    if (!census) return std::unexpected(census.error());
    found.census = std::move(*census);
    const ProcTable table;
    found.judged.reserve(found.census.open_rows.size());
    for (const auto& session : found.census.open_rows) {
        found.judged.push_back(judge(session, found.daemon.has_value(), table));
    }
    return found;
}

Result<sqlite::StoreRepair> repair_store(const Paths& paths, WallTime now) {
    const auto claims = Claims::take(paths);
    if (!claims) {
        return fail(ErrorCode::blocked,
                    fmt::format("nothing was changed: {}. Stop the daemon first: knell down",
                                claims.error().message));
    }
    return sqlite::repair_store(paths.store_file, now);
}

}  // namespace knell
