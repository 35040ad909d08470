#include "writer/leftover_finder.hpp"

#include <gtest/gtest.h>

#include "testing/commands.hpp"

namespace knell {
namespace {

FindLeftovers gone_with(std::size_t commands) {
    FindLeftovers what;
    what.process = testing::process_owner(100).process;
    for (std::size_t i = 0; i < commands; ++i) {
        what.commands.push_back({.session_id = SessionId("s" + std::to_string(i)),
                                 .generation = static_cast<Generation>(i + 1),
                                 .reaper = {}});
    }
    return what;
}

TEST(SearchesFor, OneForEachCommandOfTheOwner) {
    const auto searches = searches_for(gone_with(1), "/run/knell.sock");
    ASSERT_EQ(searches.size(), 1U);
    EXPECT_EQ(searches[0].session_id, SessionId("s0"));
    EXPECT_EQ(searches[0].generation, 1U);
    EXPECT_EQ(searches[0].socket, "/run/knell.sock");
    EXPECT_EQ(searches[0].command, testing::process_owner(100).process);
    EXPECT_FALSE(searches[0].by_cookie_only);
    EXPECT_FALSE(searches[0].reaper) << "nobody adopts";
}

TEST(SearchesFor, OfSeveralOnlyTheCookieTellsWhoseItIs) {
    const auto searches = searches_for(gone_with(2), "");
    ASSERT_EQ(searches.size(), 2U);
    EXPECT_TRUE(searches[0].by_cookie_only);
    EXPECT_TRUE(searches[1].by_cookie_only);
    EXPECT_EQ(searches[1].generation, 2U);
}

TEST(SearchesFor, TheReaperIsOfTheOwnersBootAndNamespace) {
    auto what = gone_with(1);
    what.commands[0].reaper = {.pid = 90, .start_ticks = 5};
    const auto searches = searches_for(what, "");
    ASSERT_TRUE(searches[0].reaper);
    EXPECT_EQ(*searches[0].reaper, (ProcessIdentity{90, 5, 1, "boot-1"}));
}

}  // namespace
}  // namespace knell
