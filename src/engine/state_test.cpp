#include "engine/state.hpp"

#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/decide.hpp"
#include "testing/commands.hpp"

namespace knell {
namespace {

using namespace testing;

std::string millis(std::optional<WallTime> time) {
    return time ? std::to_string(to_millis(*time)) : "-";
}

/// All that can be asked of a state about the sessions "0" to "9".
std::vector<std::string> portrait(const State& state) {
    std::vector<std::string> lines;
    for (int i = 0; i < 10; ++i) {
        const auto* live = state.find(SessionId(std::to_string(i)));
        if (live == nullptr) continue;
        const auto event = live->event(EventType::notice, {}, state.owner_hosts());
        const auto* owner = state.owner_of(*live);
        lines.push_back(fmt::format(
            "{} g{} m{} turn {} pid {} unknown {} stalled {} parked {} seen {} due {} shared {}",
            event.session_id.text(), event.generation, event.tally.messages,
            millis(live->turn_since()), live->owner(state.owner_hosts()).process.pid,
            millis(live->unknown_since()), millis(live->stalled_since()),
            millis(live->parked_since()), millis(live->last_seen_at()),
            live->deadline().time_since_epoch().count(), owner == nullptr ? 0 : owner->sessions));
        lines.push_back(fmt::format("clients {} told {} at {} detached {} turn of {} for {}",
                                    live->clients().size(), live->is_attach_told(),
                                    live->tell_detach_at().time_since_epoch().count(),
                                    millis(live->detached_since()), live->turn_clients().size(),
                                    live->turn_window().count()));
        lines.push_back(
            fmt::format("parked before {} {}", millis(live->parked_before()), live->park_why()));
        lines.push_back(fmt::format("background {} by {} of {}", millis(live->background_since()),
                                    state.processes().counting_of(event.session_id),
                                    state.processes().count_of(event.session_id)));
        lines.push_back(fmt::format("suspended {} held {}", millis(live->suspended_at()),
                                    millis(live->reset_held_since())));
    }
    for (int i = 0; i < 3; ++i) {
        const auto* live = state.find_by_key(fmt::format("k{}", i));
        lines.push_back(live == nullptr ? "-" : live->id().text());
    }
    state.processes().for_each([&](const RunningProcess& process) {
        const auto& row = process.row;
        lines.push_back(
            fmt::format("{} {} of {} {} stale {} until {} clock {}", row.number, row.id.text(),
                        row.session_id.text(), static_cast<int>(row.activity.activity),
                        millis(row.stale_since), millis(row.vouched_until), process.clock.count()));
    });
    lines.push_back(fmt::format("number {} vouch {}", state.heads().process_number,
                                millis(state.next_vouch_end())));
    for (std::size_t i = 0; i < status_names.size(); ++i) {
        lines.push_back(fmt::format("{} {}", status_names[i], state.count(static_cast<Status>(i))));
    }
    lines.push_back(fmt::format("open {} leases {} parked {} held {} ordinal {} seq {}",
                                state.open_count(), state.lease_count(), state.parked_count(),
                                state.held_reset_count(), state.heads().ordinal,
                                state.heads().seq));
    return lines;
}

int pick(int from, int below) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(from, below));
}

Create random_create(std::string id) {
    auto command = create(std::move(id), process_owner(pick(1, 4)));
    command.draft.key = fmt::format("k{}", pick(0, 3));
    switch (pick(0, 6)) {
        case 4:
        case 5:
            command.draft.owner = hosted_owner(std::chrono::seconds{pick(5, 30)});
            break;
        case 0:
            command.draft.owner = lease_owner(std::chrono::seconds{pick(5, 30)});
            break;
        case 1:
            command.draft.owner.lease_ttl = std::chrono::seconds{10};
            break;
        case 2:
            command.draft.on_owner_loss = OnOwnerLoss::park;
            command.draft.park_window = std::chrono::seconds{10};
            break;
        default:
            break;
    }
    return command;
}

Input random_input() {
    const auto id = std::to_string(pick(0, 10));
    const auto generation = static_cast<Generation>(pick(1, 3));
    const auto client = pick(1, 4);
    const auto pid = pick(50, 55);
    switch (pick(0, 20)) {
        case 15:
        case 16:
            return record_process(id, pid);
        case 17:
            return process_gone(pid, exited(0));
        case 18:
            return process_active(pid, static_cast<ProcessActivity>(pick(0, 3)), pick(0, 2) == 1);
        case 19:
            return vouch(pid,
                         pick(0, 3) == 0 ? std::nullopt : std::optional(at(pick(0, 150)).wall));
        case 9:
        case 10:
            return attach(id, client);
        case 11:
            return detach(id, client);
        case 12:
            return client_gone(id, client);
        case 13:
            return turn_of(id, client, std::chrono::seconds{pick(5, 30)});
        case 14:
            return Named{SessionId(id)};
        case 0:
        case 1:
            return random_create(id);
        case 2:
            return append(id, generation, {"x"});
        case 3:
            return close(id);
        case 4:
            return turn(id, generation, pick(0, 2) == 1);
        case 5:
            return unknown(pick(1, 4));
        case 6:
            return alive(pick(1, 4));
        case 7:
            return gone(pick(1, 4), exited(0));
        default:
            return resume(id, /*takeover=*/true);
    }
}

void take(State& state, Decision&& decision) {
    for (const auto& change : decision.changes) state.apply(change);
    for (auto& event : decision.events) state.number(event);
    if (decision.gone) state.mark_gone(*decision.gone);
}

/// What is said, and what falls due in between, from a time on.
void run(State& state, int from, int inputs) {
    for (int i = 0; i < inputs; ++i) {
        state.begin(at(from + i));
        auto input = random_input();
        if (auto* seen = std::get_if<Observation>(&input)) {
            take(state, decide(std::move(*seen), nullptr, state));
        } else {
            take(state, decide(std::get<Command>(std::move(input)), nullptr, state));
        }
        if (pick(0, 3) == 0) {
            state.set_reset_policies(idle_policy(std::chrono::minutes{pick(1, 3)}));
        }
        while (const auto* process = state.next_vouch_over()) {
            take(state, decide_vouch_over(*process, state));
        }
        while (const auto slot = state.next_work()) {
            take(state, decide_due(state.at(*slot), state.holds_leases(), state));
        }
    }
}

RC_GTEST_PROP(State, RevertTakesAFailedBatchBackWhole, ()) {
    State state;
    run(state, 0, pick(0, 60));
    state.settle();
    const auto before = portrait(state);

    run(state, 60, pick(1, 60));
    state.revert();

    RC_ASSERT(portrait(state) == before);
}

/// What was due in a failed batch is due in the next: nobody says it again.
RC_GTEST_PROP(State, WhatARevertTookBackIsDecidedAgain, ()) {
    State state;
    run(state, 0, pick(0, 60));
    state.settle();
    state.begin(at(200));
    take(state, decide(gone(1, exited(0)), nullptr, state));
    std::set<std::string> first;
    while (const auto slot = state.next_work()) {
        first.emplace(state.at(*slot).id().text());
        take(state, decide_due(state.at(*slot), false, state));
    }
    state.revert();
    state.begin(at(201));
    std::set<std::string> second;
    while (const auto slot = state.next_work()) {
        second.emplace(state.at(*slot).id().text());
        take(state, decide_due(state.at(*slot), false, state));
    }

    RC_ASSERT(first == second);
}

TEST(State, AWordFromTheFutureOfAnotherBootBoundsNothing) {
    State state;
    Heads heads;
    heads.last_word = LastWord{at(100).wall, "boot-0", at(100).boot};
    state.set_heads(heads, "boot-1");

    state.begin(at(1));

    EXPECT_TRUE(state.was_set_back_unseen());
    EXPECT_FALSE(state.heads().last_word);
    state.revert();
    EXPECT_FALSE(state.heads().last_word) << "a failed batch brings it back";
}

void open(State& state, const std::string& id, const std::string& key) {
    auto command = create(id, process_owner(1));
    command.draft.key = key;
    take(state, decide(Command{std::move(command)}, nullptr, state));
}

TEST(State, AResetFallsDueByTimeThatPassedAndNotByAClockThatIsSet) {
    State state;
    state.begin(at(0));
    state.set_reset_policies(idle_policy(std::chrono::minutes{10}));
    open(state, "a", "k");
    open(state, "b", "");
    EXPECT_EQ(state.next_wall_deadline(), at(600).wall) << "of what has a key";
    EXPECT_FALSE(state.next_reset_due());

    auto now = at(10);
    now.wall += std::chrono::hours{1};
    state.begin(now);
    EXPECT_FALSE(state.next_reset_due()) << "the clock was set ahead";
    state.begin(at(11));
    EXPECT_FALSE(state.next_reset_due()) << "and back";
    take(state, decide(Command{append("a", 1, {"hello"})}, nullptr, state));
    state.begin(at(600));
    EXPECT_FALSE(state.next_reset_due()) << "somebody spoke";
    state.begin(at(611));
    ASSERT_TRUE(state.next_reset_due());
    EXPECT_EQ(state.at(*state.next_reset_due()).id().text(), "a");
    EXPECT_EQ(state.reset_due(state.at(*state.next_reset_due())), ResetKind::idle);

    take(state, decide(Command{close("a")}, nullptr, state));
    EXPECT_FALSE(state.next_reset_due());
    EXPECT_FALSE(state.next_wall_deadline());
}

/// As many as follow a change in one step, and some.
TEST(State, ManySessionsFollowAPolicyAFewThousandAtATime) {
    State state;
    state.begin(at(0));
    for (int i = 0; i < 5000; ++i) {
        const auto name = std::to_string(i);
        open(state, name.c_str(), "k" + name);
    }
    state.set_reset_policies(idle_policy(std::chrono::minutes{10}));
    EXPECT_TRUE(state.is_following_policies());
    state.begin(at(1));
    EXPECT_TRUE(state.is_following_policies());
    state.begin(at(2));
    EXPECT_FALSE(state.is_following_policies());
    EXPECT_EQ(state.next_wall_deadline(), at(600).wall);
}

TEST(State, KnowsTheOpenSessionOfAKey) {
    State state;
    state.begin(at(0));
    open(state, "a", "k");
    open(state, "b", "other");
    EXPECT_EQ(state.find_by_key("k")->id().text(), "a");
    EXPECT_EQ(state.find_by_key("none"), nullptr);
    state.settle();

    take(state, decide(Command{resume("a", /*takeover=*/true)}, nullptr, state));
    EXPECT_EQ(state.find_by_key("k")->generation(), 2U);
    open(state, "c", "k");
    EXPECT_EQ(state.find_by_key("k")->id().text(), "c");
    state.revert();

    EXPECT_EQ(state.find_by_key("k")->generation(), 1U);
    take(state, decide(Command{close("a")}, nullptr, state));
    EXPECT_EQ(state.find_by_key("k"), nullptr);
}

/// Every second one a UUID.
std::string id_of(int number) {
    if (number % 2 == 0) return std::to_string(number);
    return make_uuid7(from_millis(number), {});
}

RC_GTEST_PROP(LiveTable, FindsWhatIsInAndNothingElse, ()) {
    LiveTable table;
    OwnerHosts owner_hosts;
    TextPool texts;
    std::set<std::string> model;
    const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 200));
    for (const auto step : steps) {
        const auto id = id_of(step % 100);
        if (step < 100) {
            if (model.insert(id).second) {
                auto session = create(id).draft;
                table.insert(
                    LiveSession(session, owner_hosts, texts, std::chrono::milliseconds{0}));
            }
        } else if (model.erase(id) > 0) {
            RC_ASSERT(table.erase(table.find(id)).id().text() == id);
        }
        RC_ASSERT(table.size() == model.size());
    }
    for (int i = 0; i < 100; ++i) {
        const auto id = id_of(i);
        RC_ASSERT((table.find(id) != LiveTable::none) == model.contains(id));
    }
}

TEST(PackedText, HoldsEachPart) {
    const PackedText packed(std::array<std::string_view, 4>{"one", "", "three", ""});
    const auto copy = packed;

    EXPECT_EQ(copy.at(0), "one");
    EXPECT_EQ(copy.at(1), "");
    EXPECT_EQ(copy.at(2), "three");
    EXPECT_EQ(packed.at(3), "");
    EXPECT_EQ(PackedText().at(2), "");
}

TEST(PackedText, LivesAsLongAsOneOfItsCopies) {
    PackedText kept;
    {
        const PackedText first(std::array<std::string_view, 1>{"one"});
        auto second = first;
        kept = second;
        second = PackedText(std::array<std::string_view, 1>{"two"});
        EXPECT_EQ(second.at(0), "two");
    }
    auto& itself = kept;
    kept = itself;
    EXPECT_EQ(kept.at(0), "one");
}

TEST(PackedText, IsTheSameWithTheSameParts) {
    const auto packed = [](std::string_view one, std::string_view two) {
        return PackedText(std::array{one, two});
    };
    EXPECT_EQ(packed("a", "bc"), packed("a", "bc"));
    EXPECT_NE(packed("a", "bc"), packed("ab", "c"));
    EXPECT_NE(packed("a", ""), packed("", "a"));
    EXPECT_EQ(packed("", ""), PackedText());
}

TEST(TextPool, HoldsWhatIsTheSameOnceAndDropsWhatNobodyHas) {
    TextPool pool;
    const auto share = [&](const std::string& text) {
        return pool.share(PackedText(std::array<std::string_view, 1>{text}));
    };
    const auto kept = share("kept");
    const std::size_t many = 10 * TextPool::look_at_min;

    for (std::size_t i = 0; i < many; ++i) share("passing " + std::to_string(i));

    EXPECT_LE(pool.size(), TextPool::look_at_min);
    EXPECT_EQ(share("kept").at(0).data(), kept.at(0).data());
    std::vector<PackedText> all;
    for (std::size_t i = 0; i < many; ++i) all.push_back(share(std::to_string(i)));
    for (std::size_t i = 0; i < many; ++i) EXPECT_EQ(all[i].at(0), std::to_string(i));
    EXPECT_GE(pool.size(), many);
}

TEST(PackedId, ComesBackAsItWas) {
    for (const std::string id :
         {"", "s", "0123456789abcdef", "01234567-89ab-7def-8123-456789abcdef",
          "01234567-89AB-7def-8123-456789abcdef", "0123456789ab7def8123456789abcdef",
          "01234567:89ab-7def-8123-456789abcdef", "01234567-89ab-7def-8123-456789abcdeg",
          "61616161-6161-6161-6161-616161616161", "aaaaaaaaaaaaaaaa"}) {
        EXPECT_EQ(PackedId::unpack(PackedId(id).bytes()).text(), id);
    }
    const std::string uuid = "61616161-6161-6161-6161-616161616161";
    EXPECT_EQ(PackedId(uuid).bytes().size(), 17U);
    EXPECT_NE(PackedId(uuid).bytes(), PackedId("aaaaaaaaaaaaaaaa").bytes());
}

TEST(RareState, IsGoneWhenNothingIsRareAnyMore) {
    RareState state;
    state.set(&Rare::park_window, std::chrono::seconds{5});
    const auto before = state;
    state.set(&Rare::park_window, std::chrono::seconds{0});

    EXPECT_EQ(state.get(), Rare{});
    EXPECT_EQ(&state.get(), &RareState{}.get()) << "it still costs memory";
    EXPECT_EQ(before.get().park_window, std::chrono::seconds{5});
}

}  // namespace
}  // namespace knell
