// Sessions in other orders than that of creation, on every store: by their ends, and by their ids.

#include <fmt/format.h>

#include "stores.hpp"

namespace knell::testing {
namespace {

class SessionOrder : public StoreStory {
  protected:
    using Ids = std::vector<std::string>;

    static Ids ids_in(const std::vector<Session>& sessions) {
        Ids ids;
        for (const auto& session : sessions) ids.push_back(session.id.text());
        return ids;
    }
    Ids ended(EndedQuery query) {
        if (query.limit == 0) query.limit = 100;
        const auto page = reader().latest_ended(query);
        EXPECT_TRUE(page) << page.error().message;
        return ids_in(page->sessions);
    }
    Ids beginning(const std::string& prefix, std::size_t limit = 100) {
        const auto found = reader().find_beginning(SessionId(prefix), limit);
        EXPECT_TRUE(found) << found.error().message;
        return ids_in(*found);
    }
    /// "a < b < c"
    std::string beside(const std::string& id) {
        const auto found = reader().neighbours(SessionId(id));
        EXPECT_TRUE(found) << found.error().message;
        return fmt::format("{} < {} < {}", found->before.text(), id, found->after.text());
    }
    /// With something said in it: it is not folded away when it is closed.
    void open(const std::string& id, const std::string& source = "cli", std::string cwd = {}) {
        auto opened = create(id, source);
        opened.draft.title = "t";
        opened.draft.cwd = std::move(cwd);
        journal().one(opened);
    }
};
INSTANTIATE_TEST_SUITE_P(EveryStore, SessionOrder, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(SessionOrder, WhatEndedLastComesFirstHoweverOldItIs) {
    for (const auto* id : {"old", "middle", "new", "alive"}) open(id);
    journal().one(close("new"), at(10));
    journal().one(close("middle"), at(20));
    journal().one(close("old"), at(30));

    EXPECT_EQ(ended({}), (Ids{"old", "middle", "new"}));
    EXPECT_EQ(ended({.since = at(20).wall}), (Ids{"old", "middle"}));
    EXPECT_EQ(ended({.limit = 1}), Ids{"old"});

    journal().one(resume("old"), at(40));
    EXPECT_EQ(ended({}), (Ids{"middle", "new"}));
}

TEST_P(SessionOrder, PagesOfEndsNeitherRepeatNorMiss) {
    for (int i = 0; i < 25; ++i) open(std::to_string(i));
    // Several in the same millisecond.
    for (int i = 0; i < 25; ++i) journal().one(close(std::to_string(i)), at(i / 5));
    Ids seen;
    EndedQuery query{.limit = 7};
    do {
        const auto page = reader().latest_ended(query);
        ASSERT_TRUE(page);
        for (const auto& session : page->sessions) seen.push_back(session.id.text());
        query.before = page->next;
    } while (query.before);

    ASSERT_EQ(seen.size(), 25U);
    EXPECT_EQ(seen.front(), "24");
    EXPECT_EQ(seen.back(), "0");
    std::ranges::sort(seen);
    EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
}

TEST_P(SessionOrder, WhatIsFoldedAwayIsListedOnlyWhenAskedFor) {
    open("talk");
    open("job", "cron");
    journal().one(create("empty"));
    for (const auto* id : {"talk", "job", "empty"}) journal().one(close(id), at(1));

    EXPECT_EQ(ended({}), Ids{"talk"});
    EXPECT_EQ(ended({.all = true}), (Ids{"empty", "job", "talk"}));
    EXPECT_EQ(ended({.source = "cron"}), Ids{"job"});
    EXPECT_EQ(ended({.source = "cli"}), (Ids{"empty", "talk"}));
}

TEST_P(SessionOrder, ADirectoryIsItselfAndWhatIsBelowIt) {
    open("in", "cli", "/home/me/proj");
    open("below", "cli", "/home/me/proj/src");
    open("beside", "cli", "/home/me/project");
    open("above", "cli", "/home/me");
    open("nowhere");
    for (const auto* id : {"in", "below", "beside", "above", "nowhere"}) {
        journal().one(close(id), at(1));
    }

    EXPECT_EQ(ended({.cwd = "/home/me/proj"}), (Ids{"below", "in"}));
    EXPECT_EQ(ended({.cwd = "/"}).size(), 5U);
    EXPECT_EQ(ended({.cwd = "/home/me/p"}), Ids{});
}

TEST_P(SessionOrder, AFilterThatFitsNobodyDoesNotLookAtEverything) {
    std::vector<Input> opens;
    std::vector<Input> closes;
    for (std::size_t i = 0; i < ended_scan_max + 2; ++i) {
        auto opened = create(fmt::format("s{}", i));
        opened.draft.title = "t";
        opened.draft.cwd = i == 0 ? "/wanted" : "/other";
        opens.emplace_back(std::move(opened));
        closes.emplace_back(close(fmt::format("s{}", i)));
    }
    journal().group(std::move(opens), at(0));
    journal().group(std::move(closes), at(1));

    const auto page = reader().latest_ended({.cwd = "/wanted", .limit = 10});
    ASSERT_TRUE(page);
    EXPECT_TRUE(page->sessions.empty());
    ASSERT_TRUE(page->next);
    EXPECT_EQ(ended({.cwd = "/wanted", .before = page->next}), Ids{"s0"});
}

TEST_P(SessionOrder, IdsAreFoundByTheirBeginning) {
    for (const auto* id : {"b", "build-1", "build-10", "build-2", "build.", "c", "Build-1"}) {
        open(id);
    }
    journal().one(close("build-1"), at(1));

    EXPECT_EQ(beginning("build-1"), (Ids{"build-1", "build-10"}));
    EXPECT_EQ(beginning("build"), (Ids{"build-1", "build-10", "build-2", "build."}));
    EXPECT_EQ(beginning("build", 2), (Ids{"build-1", "build-10"}));
    EXPECT_EQ(beginning("b").front(), "b");
    EXPECT_EQ(beginning("build-1-"), Ids{});
    EXPECT_EQ(beginning("z"), Ids{});
}

TEST_P(SessionOrder, NeighboursAreThoseBesideAnId) {
    EXPECT_EQ(beside("x"), " < x < ");
    for (const auto* id : {"m", "a", "z"}) open(id);

    EXPECT_EQ(beside("m"), "a < m < z");
    EXPECT_EQ(beside("a"), " < a < m");
    EXPECT_EQ(beside("z"), "m < z < ");
    EXPECT_EQ(beside("n"), "m < n < z") << "whether or not it is there";
}

}  // namespace
}  // namespace knell::testing
