#include "engine/decide.hpp"

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

}  // namespace

Decided<Reply> decide(Command&& command, const Session* past, const State& state) {
    return std::visit(
        [&]<typename Asked>(Asked&& asked) -> Decided<Reply> {
            Decided<typename Asked::Reply> decided = decide_on(std::move(asked), past, state);
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
