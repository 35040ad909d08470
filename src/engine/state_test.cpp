#include "engine/state.hpp"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/decide.hpp"
#include "testing/commands.hpp"

namespace knell {
namespace {

using namespace testing;

/// All that can be asked of a state about the sessions "0" to "9".
std::vector<std::string> portrait(const State& state) {
    std::vector<std::string> lines;
    for (int i = 0; i < 10; ++i) {
        const auto* live = state.find(SessionId(std::to_string(i)));
        if (live == nullptr) continue;
        const auto event = live->event(EventType::notice, {});
        lines.push_back(event.session_id.text() + " g" + std::to_string(event.generation) + " m" +
                        std::to_string(event.tally.messages) + " t" +
                        std::to_string(live->turn_since() ? to_millis(*live->turn_since()) : 0) +
                        " p" + std::to_string(live->owner(state.realms()).process.pid));
    }
    lines.push_back("open " + std::to_string(state.open_count()) + " running " +
                    std::to_string(state.count(Status::running)) + " ordinal " +
                    std::to_string(state.heads().ordinal) + " seq " +
                    std::to_string(state.heads().seq));
    return lines;
}

Command random_command() {
    const auto id = std::to_string(*rc::gen::inRange(0, 10));
    const auto generation = *rc::gen::inRange<Generation>(1, 3);
    switch (*rc::gen::inRange(0, 5)) {
        case 0:
            return create(id);
        case 1:
            return append(id, generation, {"x"});
        case 2:
            return close(id);
        case 3:
            return turn(id, generation, *rc::gen::arbitrary<bool>());
        default:
            return resume(id, /*takeover=*/true);
    }
}

void run(State& state, int commands) {
    for (int i = 0; i < commands; ++i) {
        state.begin(at(i));
        auto decision = decide(random_command(), nullptr, state);
        for (const auto& change : decision.changes) state.apply(change);
        for (auto& event : decision.events) state.number(event);
    }
}

RC_GTEST_PROP(State, RevertTakesAFailedBatchBackWhole, ()) {
    State state;
    run(state, *rc::gen::inRange(0, 40));
    state.settle();
    const auto before = portrait(state);

    run(state, *rc::gen::inRange(1, 40));
    state.revert();

    RC_ASSERT(portrait(state) == before);
}

RC_GTEST_PROP(LiveTable, FindsWhatIsInAndNothingElse, ()) {
    LiveTable table;
    Realms realms;
    std::set<std::string> model;
    const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 200));
    for (const auto step : steps) {
        const auto id = std::to_string(step % 100);
        if (step < 100) {
            if (model.insert(id).second) {
                auto session = create(id).draft;
                table.insert(LiveSession(session, realms));
            }
        } else if (model.erase(id) > 0) {
            RC_ASSERT(table.erase(table.find(id)).id() == id);
        }
        RC_ASSERT(table.size() == model.size());
    }
    for (int i = 0; i < 100; ++i) {
        const auto id = std::to_string(i);
        RC_ASSERT((table.find(id) != LiveTable::none) == model.contains(id));
    }
}

TEST(PackedText, HoldsEachPart) {
    const PackedText<3> packed({"one", "", "three"});
    const auto copy = packed;

    EXPECT_EQ(copy.at(0), "one");
    EXPECT_EQ(copy.at(1), "");
    EXPECT_EQ(copy.at(2), "three");
    EXPECT_EQ(PackedText<3>().at(2), "");
}

}  // namespace
}  // namespace knell
