// space.activity as a client sees it, on a store in memory.

#include "rpc/activity.hpp"

#include <map>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "testing/in_process_backend.hpp"
#include "wire/envelope.hpp"

namespace knell::rpc {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SpaceActivity : public ::testing::Test {
  protected:
    JsonObject call(std::string_view method, JsonObject params) {
        const auto answer =
            wire::parse_response(backend.answer(wire::request_line(1, method, params)));
        EXPECT_TRUE(answer) << answer.error().message;
        return answer->as_object();
    }
    JsonObject look(JsonObject params = {}) { return call("space.activity", std::move(params)); }
    void open(std::string_view id, JsonObject more = {}) {
        more["id"] = id;
        more["source"] = "cli";
        call("session.create", std::move(more));
    }
    void close(std::string_view id) { call("session.close", {{"session_id", id}}); }

    /// "a idle", newest first; then "-c" for what is gone.
    static std::vector<std::string> told(const JsonObject& picture) {
        std::vector<std::string> words;
        if (const auto* sessions = wire::array_at(picture, "sessions")) {
            for (const auto& one : *sessions) {
                words.push_back(fmt::format("{} {}", wire::text_at(one.as_object(), "id"),
                                            wire::text_at(one.as_object(), "status")));
            }
        }
        if (const auto* gone = wire::array_at(picture, "gone")) {
            for (const auto& one : *gone) {
                words.push_back(fmt::format("-{}", wire::text_at(one.as_object(), "id")));
            }
        }
        return words;
    }

    testing::InProcessBackend backend;
};

TEST_F(SpaceActivity, ShowsWhatIsOpenAndWhatEndedLately) {
    open("a", {{"title", "Billing"}, {"key", "agent:main"}});
    open("b", {{"parent_id", "a"}, {"relation", "subagent"}});
    open("c");
    close("c");

    const auto picture = look();

    EXPECT_THAT(told(picture), ElementsAre("c ended", "b idle", "a idle"));
    const auto& ended = picture.at("sessions").at(0);
    EXPECT_EQ(ended.at("reason"), Json("completed"));
    EXPECT_EQ(ended.at("status_since"), ended.at("ended_at"));
    EXPECT_EQ(picture.at("sessions").at(1).at("parent_id"), Json("a"));
    EXPECT_EQ(picture.at("sessions").at(2).at("title"), Json("Billing"));
    EXPECT_EQ(picture.at("sessions").at(2).at("node"), picture.at("node"));
    EXPECT_TRUE(wire::bool_at(picture, "whole"));

    backend.pass(limits::space_window + 1s);
    EXPECT_THAT(told(look()), ElementsAre("b idle", "a idle"));
}

TEST_F(SpaceActivity, TellsOnlyWhatIsDifferentSince) {
    open("a");
    open("b");
    auto next = std::string(wire::text_at(look(), "next"));
    EXPECT_THAT(told(look({{"since", next}})), IsEmpty());

    call("session.append",
         {{"session_id", "a"},
          {"generation", 1},
          {"messages", JsonArray{JsonObject{{"role", "user"}, {"content", "hi"}}}}});
    close("b");

    const auto changes = look({{"since", next}});
    EXPECT_FALSE(wire::bool_at(changes, "whole"));
    EXPECT_THAT(told(changes), ElementsAre("b ended", "a idle"));
    EXPECT_EQ(changes.at("sessions").at(1).at("message_count"), Json(1));
    EXPECT_EQ(changes.at("sessions").at(1).at("turn_count"), Json(0));

    next = wire::text_at(changes, "next");
    backend.pass(limits::space_window + 1s);
    EXPECT_THAT(told(look({{"since", next}})), ElementsAre("-b"));
}

TEST_F(SpaceActivity, HasTheSameTagUntilSomethingElseThanTheTimeIsDifferent) {
    open("a");
    const auto before = look();
    const auto etag = std::string(wire::text_at(before, "etag"));
    backend.pass(1s);

    const auto after = look({{"if_none_match", etag}});

    EXPECT_NE(after.at("generated_at"), before.at("generated_at"));
    EXPECT_EQ(wire::text_at(after, "etag"), etag);
    EXPECT_TRUE(wire::bool_at(after, "unchanged"));
    EXPECT_FALSE(after.contains("sessions"));
    call("session.title", {{"session_id", "a"}, {"title", "new"}});
    const auto changed = look({{"if_none_match", etag}});
    EXPECT_NE(wire::text_at(changed, "etag"), etag);
    EXPECT_THAT(told(changed), ElementsAre("a idle"));
}

TEST_F(SpaceActivity, OfAllHasTheGatewaysAndATagThatTheirTimesDoNotChange) {
    open("a");
    const std::vector<JsonObject> theirs{{{"id", "x"},
                                          {"node", "n2"},
                                          {"source", "cli"},
                                          {"generation", 1},
                                          {"status", "running"},
                                          {"status_since", "2026-11-15T03:52:25.001Z"},
                                          {"started_at", "2026-11-15T03:52:25.001Z"},
                                          {"last_activity_at", "2026-11-15T03:52:25.001Z"},
                                          {"message_count", 3}}};
    backend.gateways = {{.name = "mac",
                         .is_reachable = true,
                         .as_of = from_millis(1000),
                         .sessions = std::make_shared<const std::vector<JsonObject>>(theirs),
                         .version = 1}};
    EXPECT_THAT(told(look()), ElementsAre("a idle"));
    const auto first = look({{"all", true}});
    EXPECT_THAT(told(first), ElementsAre("a idle", "x running"));
    EXPECT_EQ(first.at("gateways").at(0).at("as_of"), Json("1970-01-01T00:00:01.000Z"));

    backend.gateways.front().as_of = from_millis(2000);
    EXPECT_EQ(look({{"all", true}}).at("etag"), first.at("etag"));

    backend.gateways.front().is_reachable = false;
    backend.gateways.front().error = "timed out";
    backend.gateways.front().version = 2;
    const auto silent = look({{"all", true}, {"since", first.at("next")}});
    EXPECT_NE(silent.at("etag"), first.at("etag"));
    EXPECT_THAT(told(silent), ElementsAre("x running"));
    EXPECT_TRUE(wire::bool_at(silent.at("sessions").at(0).as_object(), "stale"));
    EXPECT_EQ(silent.at("gateways").at(0).at("error"), Json("timed out"));
}

TEST_F(SpaceActivity, LeavesOutWhatNoAnswerCanHoldAndSaysSo) {
    const std::string title(1000, 't');
    const std::string key(500, 'k');
    const auto fits = limits::space_bytes_max / 1800;
    for (std::size_t i = 0; i < fits + 700; ++i) {
        open(fmt::format("s{}", i), {{"title", title}, {"key", key}});
    }

    const auto picture = look();

    EXPECT_TRUE(wire::bool_at(picture, "truncated"));
    EXPECT_LT(wire::array_at(picture, "sessions")->size(), fits + 700);
    EXPECT_LT(wire::to_text(picture).size(), limits::answer_bytes_max);
    EXPECT_EQ(picture.at("sessions").at(0).at("id"), Json(fmt::format("s{}", fits + 699)));
}

TEST_F(SpaceActivity, IsWhatALookAtEverythingWouldGive) {
    constexpr int steps = 600;
    constexpr int sessions = 25;
    std::minstd_rand random(7);
    const auto below = [&](int limit) {
        return static_cast<int>(random() % static_cast<unsigned>(limit));
    };
    std::string since;
    std::map<std::string, std::string> followed;  // as docs/space.md says
    for (int step = 0; step < steps; ++step) {
        const auto id = fmt::format("s{}", below(sessions));
        const auto line = [&](std::string_view method, const JsonObject& params) {
            backend.answer(wire::request_line(1, method, params));  // refused or not
        };
        switch (below(6)) {
            case 0:
                line("session.create", {{"id", id}, {"source", "cli"}});
                break;
            case 1:
                line("session.close", {{"session_id", id}});
                break;
            case 2:
                line("session.resume", {{"session_id", id}});
                break;
            case 3:
                line("session.title", {{"session_id", id}, {"title", fmt::format("{}", step)}});
                break;
            case 4:
                line("turn.start", {{"session_id", id}, {"generation", 1}});
                break;
            default:
                backend.pass(std::chrono::seconds{below(100)});
        }
        if (below(3) == 0) continue;
        const auto picture = look();
        ChangeNotes nothing_known;
        Activity anew("other", backend.node_id(), nothing_known);
        const auto whole = anew.own(backend.reader(), backend.wall_time(), "");
        std::string expected = "[";
        for (const auto* sprite : whole->own.sprites) {
            expected += (expected.size() > 1 ? "," : "") + sprite->text;
        }
        ASSERT_EQ(wire::to_text(picture.at("sessions")), expected + "]") << "after step " << step;

        const auto changes = look({{"since", since}});
        if (wire::bool_at(changes, "whole")) followed.clear();
        for (const auto& one : *wire::array_at(changes, "sessions")) {
            followed[std::string(one.at("id").as_string())] = wire::to_text(one);
        }
        if (const auto* gone = wire::array_at(changes, "gone")) {
            for (const auto& one : *gone) followed.erase(std::string(one.at("id").as_string()));
        }
        since = wire::text_at(changes, "next");
        ASSERT_EQ(followed.size(), whole->own.sprites.size()) << "after step " << step;
        for (const auto* sprite : whole->own.sprites) {
            ASSERT_EQ(followed[sprite->key], sprite->text) << "after step " << step;
        }
    }
}

TEST_F(SpaceActivity, CountsTurns) {
    open("a");
    for (const auto* method : {"turn.start", "turn.end", "turn.start"}) {
        call(method, {{"session_id", "a"}, {"generation", 1}});
    }
    const auto picture = look();
    EXPECT_THAT(told(picture), ElementsAre("a running"));
    EXPECT_EQ(picture.at("sessions").at(0).at("turn_count"), Json(2));
}

TEST_F(SpaceActivity, APlaceThatIsNotItsOwnGivesTheWholePicture) {
    open("a");
    const auto next = std::string(wire::text_at(look(), "next"));
    EXPECT_FALSE(wire::bool_at(look({{"since", next}}), "whole"));
    const auto merged = std::string(wire::text_at(look({{"all", true}}), "next"));
    EXPECT_FALSE(wire::bool_at(look({{"since", merged}, {"all", true}}), "whole"));
    for (const auto& place :
         {merged, "other" + next, next + "x", next + "9", next + "-1", std::string("lifeo-")}) {
        EXPECT_TRUE(wire::bool_at(look({{"since", place}}), "whole")) << place;
    }
    for (const auto& place :
         {next, merged + "x", std::string("lifea-1."), std::string("lifea-.1")}) {
        EXPECT_TRUE(wire::bool_at(look({{"since", place}, {"all", true}}), "whole")) << place;
    }
}

TEST_F(SpaceActivity, ShowsTheOldestAgainOnceThereIsRoom) {
    const std::string title(1000, 't');
    const auto fits = limits::space_bytes_max / 1300;
    for (std::size_t i = 0; i < fits + 400; ++i) {
        open(fmt::format("s{}", i), {{"title", title}});
    }
    EXPECT_TRUE(wire::bool_at(look(), "truncated"));
    open("new", {{"title", title}});
    const auto full = look();
    EXPECT_TRUE(wire::bool_at(full, "truncated"));
    EXPECT_EQ(full.at("sessions").at(0).at("id"), Json("new"));

    for (std::size_t i = fits + 399; i >= fits - 400; --i) close(fmt::format("s{}", i));
    backend.pass(limits::space_window + 1s);

    const auto later = look();
    EXPECT_FALSE(wire::bool_at(later, "truncated"));
    EXPECT_EQ(wire::array_at(later, "sessions")->size(), fits - 400 + 1);
}

}  // namespace
}  // namespace knell::rpc
