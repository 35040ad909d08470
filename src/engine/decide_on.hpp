#pragma once

#include "engine/decide.hpp"

namespace knell {

template <typename Answer>
Decided<Answer> reply_with(Answer reply) {
    Decided<Answer> decided;
    decided.reply = std::move(reply);
    return decided;
}

/// To whichever command: nothing follows from it but why.
struct Refused {
    Error why;

    template <typename Answer>
    operator Decided<Answer>() && {  // NOLINT(google-explicit-constructor)
        Decided<Answer> decided;
        decided.reply = std::unexpected(std::move(why));
        return decided;
    }
};
inline Refused refuse(Error why) {
    return {std::move(why)};
}

/// How a session ends whose owner is gone, with what it is known to have left behind; see
/// decide_due.cpp.
struct Departed {
    EndPath path;
    End end;
};
Departed end_of_departed(const LiveSession& live, const OwnerEntry& owner, const State& state);

/// Its owner was seen to go, and the session is about to end by that: its `knell run` is given a
/// moment to say how, and what it left behind is looked for; or its end is not written yet, because
/// words that came with it are decided first or the store refused it.  Nothing otherwise.
/// `was_searched`: whoever asks has looked for that.
std::optional<Departed> departed(const LiveSession& live, const State& state,
                                 bool was_searched = false);

/// What a close that came on that way says of an end.
End end_of(const Close& close, EndPath path, WallTime now);

/// Opening; see decide_open.cpp.
/// What was just opened, as the last event tells, may have an owner that cannot be checked.  That
/// is known from the owner's other sessions, and nobody will say it again.
void mark_uncertain_if_known(Decision& decision, OpenedReply& reply, Ordinal ordinal,
                             const Owner& owner, const State& state);
Decided<Create::Reply> decide_on(Create&& create, const Session* past, const State& state);
/// The same where no open session of its key goes on beside it.
Decided<Create::Reply> open_session(Create&& create, const Session* past, const State& state);
Decided<Resume::Reply> decide_on(Resume&& resume, const Session* past, const State& state);

/// The first sign of life that this daemon hears of a lease or a hosted session: from here on it
/// has its full time again after the next restart, so this must not be lost in one.
void keep_first_sign(Decision& decision, const SessionId& id, const LiveSession& live,
                     const State& state);

/// Whoever writes or beats makes progress, and of a lease that is all there is to know.  Whether a
/// process can be checked only a look at it tells.
void clear_uncertainty(Decision& decision, const SessionId& id, const LiveSession& live);

/// The live session a write is meant for, or why the write is refused.
std::expected<const LiveSession*, Error> writable(const SessionId& id, Generation generation,
                                                  const Session* past, const State& state);

/// A message for a key; see decide_route.cpp.  `tip`: the key's newest session at the end of its
/// lineage, unless one of that key is open.
Decided<Route::Reply> decide_on(Route&& route, const Session* tip, const State& state);

/// New conversations; see decide_reset.cpp.
Decided<Reset::Reply> decide_on(Reset&& reset, const Session* past, const State& state);
Decided<Suspend::Reply> decide_on(Suspend&& suspend, const Session* past, const State& state);

/// A child goes on with what was said; see decide_child.cpp.
Decided<Branch::Reply> decide_on(Branch&& branch, const Session* row, const State& state);
Decided<Compress::Reply> decide_on(Compress&& compress, const Session* row, const State& state);
Decided<NotedReply> decide_on(CompressionFailed&& failed, const Session* past, const State& state);

/// What an owner says while its session is open; see decide_write.cpp.
Decided<Append::Reply> decide_on(Append&& append, const Session* past, const State& state);
Decided<Turn::Reply> decide_on(Turn&& turn, const Session* past, const State& state);
Decided<Heartbeat::Reply> decide_on(Heartbeat&& heartbeat, const Session* past, const State& state);

/// What a person writes on a session; see decide_label.cpp.
Decided<Label::Reply> decide_on(Label&& label, const Session* row, const State& state);

/// Ending by somebody's word; see decide_close.cpp.
Decided<Close::Reply> decide_on(Close&& close, const Session* past, const State& state);

/// Clients that look at sessions; see decide_client.cpp.
Decided<Attach::Reply> decide_on(Attach&& attach, const Session* past, const State& state);
Decided<Detach::Reply> decide_on(Detach&& detach, const Session* past, const State& state);
Decided<NotedReply> decide_on(ClientGone&& gone, const Session* past, const State& state);
Decided<NotedReply> decide_on(ClientsGone&& gone, const Session* past, const State& state);
Decided<NotedReply> decide_on(Named&& named, const Session* past, const State& state);
/// The last of them has gone, and did not come back.
Decision tell_detach(const LiveSession& live, const State& state);

/// Calls of agents' tools; see decide_guard.cpp.
Decided<ReportTools::Reply> decide_on(ReportTools&& reports, const Session* past,
                                      const State& state);
Decided<CheckTool::Reply> decide_on(CheckTool&& check, const Session* past, const State& state);

/// Background processes; see decide_process.cpp.
Decided<RecordProcess::Reply> decide_on(RecordProcess&& record, const Session* past,
                                        const State& state);
Decided<StopProcess::Reply> decide_on(StopProcess&& stop, const Session* past, const State& state);
Decided<VouchProcess::Reply> decide_on(VouchProcess&& vouch, const Session* past,
                                       const State& state);
Decided<NotedReply> decide_on(ProcessGone&& gone, const Session* past, const State& state);
Decided<NotedReply> decide_on(ProcessActive&& active, const Session* past, const State& state);
Decided<NotedReply> decide_on(ProcessNotStopped&& left, const Session* past, const State& state);

/// What observers say about owners; see decide_owner.cpp.
Decided<NotedReply> decide_on(OwnerGone&& gone, const Session* past, const State& state);
Decided<NotedReply> decide_on(OwnerUnknown&& unknown, const Session* past, const State& state);
Decided<NotedReply> decide_on(OwnerAlive&& alive, const Session* past, const State& state);
Decided<NotedReply> decide_on(SettleLeftovers&& settle, const Session* past, const State& state);

}  // namespace knell
