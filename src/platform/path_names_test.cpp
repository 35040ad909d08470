#include "platform/path_names.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

TEST(PathNames, AreThoseThatTheUserKnows) {
    const PathNames names("/home/ann", "/home/ann/k");

    EXPECT_EQ(names.in("/home/ann/k/config.yaml:3:5: odd"), "$KNELL_HOME/config.yaml:3:5: odd");
    EXPECT_EQ(names.in("chmod 600 /home/ann/x; chmod 700 /home/ann"), "chmod 600 ~/x; chmod 700 ~");
    EXPECT_EQ(names.in("/home/ann/k"), "$KNELL_HOME");
    EXPECT_EQ(names.in("(/home/ann/a and \"/home/ann/b\")"), "(~/a and \"~/b\")");
}

TEST(PathNames, LeaveOtherPathsAlone) {
    const PathNames names("/home/ann", "/k");

    for (const auto* text : {"/home/anna/x", "/srv/home/ann/x", "/home/ann.old", "/key", "/a/k/b",
                             "https://example.org/home/ann/x", "", "/", "/home/an"}) {
        EXPECT_EQ(names.in(text), text);
    }
}

TEST(PathNames, TheRootAndNothingAreNoNames) {
    EXPECT_EQ(PathNames("/", "").in("/etc/x /"), "/etc/x /");
}

}  // namespace
}  // namespace knell
