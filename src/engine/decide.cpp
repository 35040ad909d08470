#include "engine/decide.hpp"

#include <algorithm>

#include "engine/decide_on.hpp"
#include "engine/end_events.hpp"

namespace knell {

namespace {

Decided<NotedReply> decide_on(Announce&& announce, const Session*, const State& state) {
    auto decision = reply_with(NotedReply{});
    decision.events.push_back(
        node_event(announce.type, std::move(announce.detail), state.now().wall));
    return decision;
}

/// Of the session that somebody means now.  What was written down in the past (`at`), and is read
/// again and again until it can be taken in, means nobody who is there.
const SessionId* named_by(const Create& create) {
    return create.at ? nullptr : &create.draft.id;
}
const SessionId* named_by(const Heartbeat&) {
    return nullptr;  // it renews by itself
}
const SessionId* named_by(const RecordProcess& record) {
    return &record.draft.session_id;
}
const SessionId* named_by(const Route&) {
    return nullptr;  // it keeps what it finds by itself
}
const SessionId* named_by(const Reset& reset) {
    return reset.name.session_id.empty() ? nullptr : &reset.name.session_id;
}
const SessionId* named_by(const Suspend& suspend) {
    return suspend.name.session_id.empty() ? nullptr : &suspend.name.session_id;
}
const SessionId* named_by(const ReportTools& reports) {
    return reports.session_id.empty() ? nullptr : &reports.session_id;
}
// These name a process, not its session.
const SessionId* named_by(const StopProcess&) {
    return nullptr;
}
const SessionId* named_by(const VouchProcess&) {
    return nullptr;
}
template <typename Asked>
const SessionId* named_by(const Asked& asked) {
    if constexpr (requires { asked.at; }) {
        if (asked.at) return nullptr;
    }
    return &asked.session_id;
}

/// Any call that names a hosted session keeps it, also one that is refused.
void keep(Decision& decision, const LiveSession& live, const State& state) {
    // Whatever else it changes of the session begins its time anew, or ends it.
    const auto id = live.id();
    const auto begins_anew = [&](const Change& change) {
        return std::visit(
            [&]<typename Kind>(const Kind& one) {
                if constexpr (std::is_same_v<Kind, Labelled> || std::is_same_v<Kind, Suspended>) {
                    return false;
                } else if constexpr (std::is_base_of_v<SessionRef, Kind>) {
                    return one.id == id;  // and not of its child
                } else {
                    return false;
                }
            },
            change);
    };
    if (!decision.renewals.empty() || std::ranges::any_of(decision.changes, begins_anew)) return;
    keep_first_sign(decision, id, live, state);
    decision.renewals.push_back(id);
}

}  // namespace

Decided<Reply> decide(Command&& command, const Session* past, const State& state) {
    return std::visit(
        [&]<typename Asked>(Asked&& asked) -> Decided<Reply> {
            const auto* named = named_by(asked);
            const auto* live = named == nullptr ? nullptr : state.find(*named);
            Decided<typename Asked::Reply> decided =
                decide_on(std::forward<Asked>(asked), past, state);
            if (live != nullptr && live->is_hosted()) keep(decided, *live, state);
            auto reply = std::move(decided.reply);
            return {static_cast<Decision&&>(decided), std::move(reply)};
        },
        std::move(command));
}

Decided<NotedReply> decide(Observation&& observation, const Session* past, const State& state) {
    return std::visit(
        [&](auto&& seen) { return decide_on(std::forward<decltype(seen)>(seen), past, state); },
        std::move(observation));
}

}  // namespace knell
