#include "cli/default_owner.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace knell::cli {
namespace {

constexpr pid_t session = 100;
/// The shell of a terminal.
constexpr Ancestor shell{.pid = 100, .group = 100, .session = session};
constexpr Ancestor terminal{.pid = 50, .group = 50, .session = 50};

std::optional<pid_t> chosen(const std::vector<Ancestor>& ancestors) {
    return choose_owner(ancestors, session);
}

TEST(DefaultOwner, TheShellThatCalled) {
    EXPECT_EQ(chosen({shell, terminal}), 100);
}

TEST(DefaultOwner, ASubshellOfACommandSubstitutionIsPassedOver) {
    EXPECT_EQ(
        chosen(
            {{.pid = 200, .group = 100, .session = session, .is_subshell = true}, shell, terminal}),
        100);
}

TEST(DefaultOwner, ASubshellThatLeadsThePipelineIsPassedOver) {
    EXPECT_EQ(
        chosen(
            {{.pid = 200, .group = 200, .session = session, .is_subshell = true}, shell, terminal}),
        100);
}

TEST(DefaultOwner, AScriptOfItsOwnJobIsTheOwner) {
    EXPECT_EQ(chosen({{.pid = 200, .group = 200, .session = session}, shell, terminal}), 200);
}

TEST(DefaultOwner, TheShellOfAMakefileLeadsNothingAndMakeDoes) {
    EXPECT_EQ(chosen({{.pid = 300, .group = 200, .session = session},
                      {.pid = 200, .group = 200, .session = session},
                      shell,
                      terminal}),
              200);
}

TEST(DefaultOwner, WhatItsSessionsLeaderLeftBehindStandsForItself) {
    const Ancestor init{.pid = 1, .group = 1, .session = 1};
    EXPECT_EQ(chosen({{.pid = 200, .group = 150, .session = session}, init}), 200);
}

TEST(DefaultOwner, InitOwnsNothingThatItAdopted) {
    const Ancestor init{.pid = 1, .group = 1, .session = 1};
    EXPECT_EQ(chosen({init}), std::nullopt);
    EXPECT_EQ(chosen({}), std::nullopt);
}

TEST(DefaultOwner, TheFirstProcessOfAContainerMayBeTheShell) {
    EXPECT_EQ(choose_owner(std::vector<Ancestor>{{.pid = 1, .group = 1, .session = 1}}, 1), 1);
    // Made by unshare(1): its group and session are outside and have no number here.
    EXPECT_EQ(choose_owner(std::vector<Ancestor>{{.pid = 1, .group = 0, .session = 0}}, 0), 1);
}

}  // namespace
}  // namespace knell::cli
