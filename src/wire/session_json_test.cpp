#include "wire/session_json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace knell::wire {
namespace {

std::string any_text() {
    return *rc::gen::container<std::string>(rc::gen::oneOf(
        rc::gen::element('"', '\\', '\n', '\x1f', '\xc3'), rc::gen::inRange<char>(' ', '~')));
}
WallTime any_time() {
    return from_millis(*rc::gen::inRange<std::int64_t>(0, 253'402'300'800'000));
}
std::optional<WallTime> maybe_time() {
    return *rc::gen::arbitrary<bool>() ? std::optional(any_time()) : std::nullopt;
}
template <typename Choice, typename Names>
Choice any_of(const Names& names) {
    return static_cast<Choice>(*rc::gen::inRange<std::size_t>(0, names.size()));
}

Session any_session() {
    Session session;
    session.id = SessionId(any_text());
    for (auto* text :
         {&session.key, &session.source, &session.platform, &session.user_id, &session.model,
          &session.title, &session.cwd, &session.park_why, &session.owner.host,
          &session.owner.command, &session.chat_type, &session.suspend_why}) {
        *text = any_text();
    }
    session.meta = *rc::gen::element<std::string>("", R"({"a": [1, "x"]})", "broken{");
    session.parent_id = SessionId(any_text());
    session.relation = any_of<Relation>(relation_names);
    session.owner.kind = any_of<OwnerKind>(owner_kind_names);
    session.owner.process.pid = *rc::gen::inRange(0, 3);
    session.owner.lease_ttl = std::chrono::seconds(*rc::gen::inRange(0, 3));
    session.on_owner_loss = any_of<OnOwnerLoss>(on_owner_loss_names);
    session.park_window = std::chrono::seconds(*rc::gen::inRange(0, 3));
    session.started_at = any_time();
    session.last_interaction_at = any_time();
    session.summary_lost = *rc::gen::arbitrary<bool>();
    session.attached = *rc::gen::inRange(0, 3);
    session.pinned = *rc::gen::arbitrary<bool>();
    for (auto* time : {&session.detached_since, &session.background_since, &session.turn_since,
                       &session.unknown_since, &session.stalled_since, &session.parked_since,
                       &session.parked_before, &session.suspended_at, &session.reset_held_since}) {
        *time = maybe_time();
    }
    if (*rc::gen::arbitrary<bool>()) session.end = End{.detail = any_text(), .leftovers = {}};
    return session;
}

RC_GTEST_PROP(SessionText, IsTheObjectByteForByte, ()) {
    const auto session = any_session();
    std::string text;

    append_session(text, session);

    RC_ASSERT(text == to_text(to_json(session)));
}

TEST(SessionText, SaysWhatIsUnusualOnlyWhereItHolds) {
    Session session;
    const auto plain = to_json(session);
    session.suspended_at = session.reset_held_since = from_millis(0);
    session.suspend_why = "a person";
    session.summary_lost = true;

    const auto unusual = to_json(session);

    for (const auto* name : {"chat_type", "suspended", "reset_held_since", "summary_lost"}) {
        EXPECT_FALSE(plain.contains(name)) << name;
    }
    EXPECT_EQ(to_text(unusual.at("suspended")),
              R"({"since":"1970-01-01T00:00:00.000Z","why":"a person"})");
    EXPECT_EQ(text_at(unusual, "reset_held_since"), "1970-01-01T00:00:00.000Z");
    EXPECT_TRUE(unusual.at("summary_lost").as_bool());
}

}  // namespace
}  // namespace knell::wire
