#include "engine/refusals.hpp"

#include <fmt/format.h>

namespace knell {

namespace {

std::string name_of_owner(const Owner& owner) {
    switch (owner.kind) {
        case OwnerKind::process:
            return fmt::format("process {}", owner.process.pid);
        case OwnerKind::lease:
            return fmt::format("a lease of {} s", owner.lease_ttl.count());
        case OwnerKind::hosted:
            break;
    }
    return "the daemon itself";
}

std::string how_known(const LiveSession& live) {
    if (live.unknown_since()) return "cannot be checked";
    if (live.owner_kind() == OwnerKind::lease) {
        return "its lease was renewed at " + format_rfc3339(live.last_seen_at());
    }
    if (live.is_hosted()) {
        return fmt::format("{} clients look at it", live.clients().size());
    }
    return "its process is watched";
}

}  // namespace

Error not_found(const SessionId& id) {
    return {ErrorCode::not_found,
            fmt::format("no session {}; `knell ls --all` lists what there is", id.text()),
            {},
            {}};
}

Error has_ended(const Session& past, std::string_view next_step) {
    const auto goes_on = past.successor_id.empty() ? std::string(next_step)
                                                   : fmt::format("session {} goes on in its place",
                                                                 past.successor_id.text());
    return {ErrorCode::ended,
            fmt::format("session {} ended at {} ({}); {}", past.id.text(),
                        format_rfc3339(past.end->ended_at), name_of(past.end->reason), goes_on),
            {},
            EndedAs{past.end->reason, past.end->ended_at, past.generation, past.owner.process,
                    past.former_owners, past.successor_id}};
}

Error ended_just_now(const LiveSession& live, const End& end, const State& state) {
    return {ErrorCode::ended,
            fmt::format("session {} ended at {} ({}), which is being recorded; resume it to write "
                        "to it",
                        live.id().text(), format_rfc3339(end.ended_at), name_of(end.reason)),
            {},
            EndedAs{end.reason, end.ended_at, live.generation(),
                    live.owner(state.owner_hosts()).process, live.former_owners()}};
}

Error owned_by(const LiveSession& live, const State& state) {
    const auto owner = live.owner(state.owner_hosts());
    const auto who = name_of_owner(owner);
    const auto known = how_known(live);
    return {ErrorCode::owned,
            fmt::format("session {} is owned by {} on {} since {} ({}); take it over with "
                        "session.resume and takeover: true, or leave it alone",
                        live.id().text(), who, owner.host, format_rfc3339(owner.since), known),
            {},
            OwnedBy{owner, live.generation(), live.status(), known, live.former_owners()}};
}

Error fenced(const SessionId& id, Generation given, Generation current) {
    return {ErrorCode::fenced,
            fmt::format("generation {} of session {} may not write: the session is at generation "
                        "{}; stop, or resume it to own it again",
                        given, id.text(), current),
            "generation", FencedBy{current}};
}

Error fenced_former(const LiveSession& live, const ProcessIdentity& caller) {
    return {ErrorCode::fenced,
            fmt::format("process {} owned an earlier generation of session {}, which is at "
                        "generation {} now and not its to end; resume it to own it again",
                        caller.pid, live.id().text(), live.generation()),
            "generation", FencedBy{live.generation()}};
}

Error unowned(const LiveSession& live) {
    return {ErrorCode::blocked,
            fmt::format("session {} has no owner since {} and waits for the next; claim it with "
                        "session.resume and write under the generation that gives",
                        live.id().text(), format_rfc3339(*live.parked_since())),
            {},
            Unowned{*live.parked_since(), live.generation(), live.status()}};
}

}  // namespace knell
