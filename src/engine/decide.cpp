#include "engine/decide_on.hpp"
#include "engine/end_events.hpp"

namespace knell {

namespace {

Decision decide_on(Announce&& announce, const Session*, const State& state) {
    auto decision = answer(NotedReply{});
    decision.events.push_back(
        node_event(announce.type, std::move(announce.detail), state.now().wall));
    return decision;
}

Decision decide_on(SaveDeliveries&& save, const Session*, const State&) {
    auto decision = answer(NotedReply{});
    decision.deliveries = std::move(save.changes);
    return decision;
}

}  // namespace

Decision decide(Command&& command, const Session* past, const State& state) {
    return std::visit(
        [&](auto&& c) { return decide_on(std::forward<decltype(c)>(c), past, state); },
        std::move(command));
}

}  // namespace knell
