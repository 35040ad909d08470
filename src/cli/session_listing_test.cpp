#include "cli/session_listing.hpp"

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

TEST(FoldedLine, CountsWhatIsNotListed) {
    Listing listing;
    EXPECT_EQ(folded_line(listing), "");

    listing.ended = {.count = 12};
    EXPECT_EQ(folded_line(listing), "12 more ended. All: knell ls -a");

    listing.by_default = {.count = 3};
    EXPECT_EQ(folded_line(listing),
              "12 more ended; 3 of sub-agents, of cron or empty. All: knell ls -a");

    listing.ended = {};
    EXPECT_EQ(folded_line(listing), "3 of sub-agents, of cron or empty. All: knell ls -a");
}

TEST(FoldedLine, SaysWhereTheCountEnds) {
    Listing listing;
    listing.ended = {.count = 1000, .is_more = true};
    listing.by_default = {.count = 0, .is_more = true};
    EXPECT_EQ(folded_line(listing),
              "more than 1000 more ended; some of sub-agents, of cron or empty. All: knell ls -a");
}

TEST(FoldedLine, NeverLeavesOutThatThereAreMoreOpenOnes) {
    Listing listing;
    listing.open = 20'000;
    listing.is_more_open = true;
    EXPECT_EQ(folded_line(listing),
              "more than 20000 are open: knell ls --open --limit 1000 has pages of them. All: "
              "knell ls -a");
}

}  // namespace
}  // namespace knell::cli
