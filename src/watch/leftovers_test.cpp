#include "watch/leftovers.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "core/limits.hpp"
#include "testing/fake_tree.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr pid_t init = 1;
constexpr pid_t shell = 90;  // of the person, in its own session
constexpr pid_t wrapper = 100;
constexpr pid_t command = 101;
constexpr std::uint64_t command_start = 1000;

std::string cookie(std::string_view id, std::string_view generation = "1",
                   std::string_view socket = "/run/knell.sock") {
    std::string text = "HOME=/root";
    text += '\0';
    text += fmt::format("KNELL_SESSION_ID={}", id);
    text += '\0';
    text += fmt::format("KNELL_GENERATION={}", generation);
    text += '\0';
    text += fmt::format("KNELL_SOCKET={}", socket);
    text += '\0';
    return text;
}

/// A person's shell runs `knell run`, which ran the command, which is a zombie now.
class FindLeftovers : public ::testing::Test {
  protected:
    FindLeftovers() {
        start(init, 0, 1, 0);
        start(shell, init, 500, shell);
        start(wrapper, shell, 990, shell);
        start(command, wrapper, command_start, shell, wrapper);
        tree.processes[command].stat.state = 'Z';
        search.session_id = SessionId("s");
        search.generation = 1;
        search.socket = "/run/knell.sock";
        search.command = identity(command);
        search.reaper = identity(wrapper);
    }

    testing::FakeProcess& start(pid_t pid, pid_t parent, std::uint64_t ticks, pid_t session,
                                pid_t group = 0) {
        auto& process = tree.processes[pid];
        process = {};
        process.stat.parent = parent;
        process.stat.start_ticks = ticks;
        process.stat.session = session;
        process.stat.group = group == 0 ? pid : group;
        return process;
    }
    ProcessIdentity identity(pid_t pid) const {
        return tree.identity(pid, tree.processes.at(pid).stat);
    }
    void forget_wrapper() {
        tree.processes.erase(wrapper);
        search.reaper.reset();
    }

    std::vector<pid_t> found(std::optional<Fate> fate = {}) const {
        std::vector<pid_t> pids;
        for (const auto& leftover : find_leftovers(search, tree, owners)) {
            if (!fate || leftover.fate == *fate) pids.push_back(leftover.process.pid);
        }
        return pids;
    }
    std::vector<pid_t> may_be_stopped() const { return found(Fate::left); }

    testing::FakeTree tree;
    LiveOwners owners;
    LeftoverSearch search;
};

TEST_F(FindLeftovers, WhatBelongsToABackgroundProcessIsNone) {
    start(200, init, 1100, 200).environment =
        cookie("s") + "KNELL_PROCESS_ID=p-0000000000001" + std::string(1, '\0');
    start(201, 200, 1200, 200).environment = "";
    start(202, init, 1300, 202).environment = cookie("s");
    forget_wrapper();
    EXPECT_THAT(found(), ElementsAre(202));
}

TEST_F(FindLeftovers, AreWhatTheWrapperWasHandedAndAllBelow) {
    start(200, wrapper, 1001, shell);
    start(201, 200, 1002, shell);
    start(300, shell, 1003, shell);  // the person's own

    const auto leftovers = find_leftovers(search, tree, owners);

    ASSERT_EQ(leftovers.size(), 2U);
    EXPECT_EQ(leftovers[0].process, identity(200));
    EXPECT_EQ(leftovers[0].found_by, "left to the session's knell run");
    EXPECT_EQ(leftovers[1].process, identity(201));
    EXPECT_EQ(leftovers[1].found_by, "child of leftover 200");
    EXPECT_EQ(tree.passes, 0) << "the tree is enough";
}

TEST_F(FindLeftovers, AreFoundWithoutTheKernelsListOfChildren) {
    start(200, wrapper, 1001, shell).environment = cookie("s");
    tree.tells_children = false;

    EXPECT_THAT(may_be_stopped(), ElementsAre(200));
    EXPECT_EQ(tree.passes, 1);
}

TEST_F(FindLeftovers, AreNotWhatTheWrapperHadBefore) {
    start(200, wrapper, 999, shell);
    start(201, 200, 1005, shell);

    EXPECT_THAT(found(), IsEmpty());
}

/// Everything that must be so for a cookie to count; each row takes one thing away.
TEST_F(FindLeftovers, ByCookieNeedTheWholeCookieAndAStartNotBeforeTheCommand) {
    struct Row {
        std::string about;
        std::string environment;
        std::uint64_t ticks;
        bool counts;
    };
    const std::vector<Row> rows{
        {"all of it", cookie("s"), 1001, true},
        {"in the same tick", cookie("s"), command_start, true},
        {"started before the command", cookie("s"), 999, false},
        {"another session", cookie("t"), 1001, false},
        {"a session whose name begins like ours", cookie("s-too"), 1001, false},
        {"another generation", cookie("s", "2"), 1001, false},
        {"another daemon", cookie("s", "1", "/run/other.sock"), 1001, false},
        {"no generation", std::string("KNELL_SESSION_ID=s\0KNELL_SOCKET=/run/knell.sock\0", 49),
         1001, false},
        {"nothing", "", 1001, false},
    };
    forget_wrapper();
    for (const auto& row : rows) {
        start(200, init, row.ticks, 200).environment = row.environment;
        EXPECT_EQ(found().size(), row.counts ? 1U : 0U) << row.about;
    }
}

TEST_F(FindLeftovers, ThatHideTheirEnvironmentAreStillTheWrappers) {
    start(200, wrapper, 1001, shell).hides_environment = true;
    EXPECT_THAT(found(), ElementsAre(200));

    forget_wrapper();
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(FindLeftovers, AreNoneOfAnotherBootOrNamespace) {
    start(200, wrapper, 1001, shell).environment = cookie("s");
    auto elsewhere = search;
    elsewhere.command.boot_id = "boot-0";
    EXPECT_THAT(find_leftovers(elsewhere, tree, owners), IsEmpty());
    elsewhere = search;
    elsewhere.command.pid_namespace = 2;
    EXPECT_THAT(find_leftovers(elsewhere, tree, owners), IsEmpty());
    elsewhere.command.pid_namespace = 0;
    EXPECT_THAT(find_leftovers(elsewhere, tree, owners), IsEmpty());
}

TEST_F(FindLeftovers, AreNoneWhileTheCommandRuns) {
    start(200, command, 1001, shell).environment = cookie("s");
    tree.processes[command].stat.state = 'S';

    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(FindLeftovers, ByGroupCountOnlyWhileThePidIsTheCommandsOwn) {
    forget_wrapper();
    tree.processes[command].stat.session = tree.processes[command].stat.group = command;
    start(200, init, 1001, command, command);
    start(201, init, 1001, command, 201);
    EXPECT_THAT(found(), ElementsAre(200, 201)) << "by group and by session";

    auto& stranger = start(command, init, 2000, command, command);
    start(200, command, 2001, command, command);
    EXPECT_THAT(found(), IsEmpty()) << "the pid went to a stranger, and the group with it";

    stranger.stat.start_ticks = command_start - 1;
    EXPECT_THAT(found(), IsEmpty());

    tree.processes.erase(command);
    EXPECT_THAT(found(), IsEmpty()) << "the stranger has come and gone, and its group is there";
}

TEST_F(FindLeftovers, OfAWrapperWhosePidWentToAStrangerAreNotTheStrangersChildren) {
    start(wrapper, init, 2000, wrapper);
    start(200, wrapper, 2001, wrapper);
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(FindLeftovers, AreNotTheChildrenOfAReaperThatIsNotTheCommandsParent) {
    start(95, shell, 900, shell);
    start(200, 95, 1001, shell);
    search.reaper = identity(95);
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(FindLeftovers, WithSeveralCommandsOfOneOwnerOnlyTheCookieTells) {
    start(200, wrapper, 1001, shell).environment = cookie("s");
    start(201, wrapper, 1001, shell);
    start(202, init, 1001, shell, command);
    search.by_cookie_only = true;
    EXPECT_THAT(found(), ElementsAre(200));
}

TEST_F(FindLeftovers, AreNotOwnersOfOpenSessionsNorWhatIsBelowOrAboveThem) {
    start(200, wrapper, 1001, shell).environment = cookie("s");  // holds the next one
    start(201, 200, 1002, shell).environment = cookie("s");      // its knell run
    start(202, 201, 1003, shell).environment = cookie("t");      // its command
    start(203, 202, 1004, shell).environment = cookie("s");
    start(204, wrapper, 1005, shell).environment = cookie("s");
    owners.add(identity(202));
    for (const bool walk : {true, false}) {
        if (!walk) forget_wrapper();
        EXPECT_THAT(may_be_stopped(), ElementsAre(204)) << walk;
        EXPECT_THAT(found(Fate::shared), ElementsAre(200, 201)) << walk;
    }
}

TEST_F(FindLeftovers, OfANestedSessionAreFoundUnderTheOwnerOfTheOuterOne) {
    owners.add(identity(shell));  // an open session around ours
    start(200, wrapper, 1001, shell);
    EXPECT_THAT(may_be_stopped(), ElementsAre(200));
}

TEST_F(FindLeftovers, AreNotWhatBelongsToAnotherSessionEvenIfThatHasEnded) {
    start(200, wrapper, 1001, shell).environment = cookie("other");
    start(201, 200, 1002, shell).environment = cookie("s");
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(FindLeftovers, AreNotKnellDaemonsNorTheirHooks) {
    start(200, wrapper, 1001, 200).environment = cookie("s");
    tree.processes[200].is_daemon = true;
    start(201, 200, 1002, 201).environment = cookie("s");
    EXPECT_THAT(found(), IsEmpty());
}

// --- shared
// ---------------------------------------------------------------------------------------

TEST_F(FindLeftovers, ThatDaemonisedAndListenAreSharedWithAllBelow) {
    auto& server = start(200, wrapper, 1001, 200);
    server.environment = cookie("s");
    server.sockets.listens_on_unix = true;
    start(201, 200, 1002, 201).environment = cookie("s");  // a window, by whomever
    start(202, 201, 1003, 201);
    start(203, wrapper, 1004, 203).environment =
        cookie("s");  // left by a window, or by the command
    start(204, wrapper, 1000, 204).environment = cookie("s");  // before the server was there
    for (const bool walk : {true, false}) {
        if (!walk) forget_wrapper();
        EXPECT_THAT(found(Fate::shared), ElementsAre(200, 201, 202, 203)) << walk;
        EXPECT_THAT(may_be_stopped(), ElementsAre(204)) << walk;
    }
}

TEST_F(FindLeftovers, ThatListenInTheCommandsOwnTerminalSessionAreNotShared) {
    start(200, wrapper, 1001, shell).sockets.listens_on_unix = true;
    EXPECT_THAT(may_be_stopped(), ElementsAre(200));
}

TEST_F(FindLeftovers, WhoseTerminalSessionCannotBeComparedAreSharedIfTheyListen) {
    forget_wrapper();
    tree.processes.erase(command);
    auto& listener = start(200, init, 1001, shell);
    listener.environment = cookie("s");
    listener.sockets.listens_on_unix = true;
    EXPECT_THAT(found(Fate::shared), ElementsAre(200));
}

TEST_F(FindLeftovers, ThatDaemonisedAndHideTheirSocketsAreShared) {
    start(200, wrapper, 1001, 200).hides_sockets = true;
    EXPECT_THAT(found(Fate::shared), ElementsAre(200));
}

TEST_F(FindLeftovers, ThatDaemonisedAreSharedByATcpClientFromOutsideOnly) {
    auto& server = start(200, wrapper, 1001, 200);
    server.sockets.own = {7, 8};
    start(201, wrapper, 1002, shell).sockets.own = {9};
    EXPECT_THAT(may_be_stopped(), UnorderedElementsAre(200, 201)) << "no client at all";

    tree.processes[200].sockets.peers = {9};
    EXPECT_THAT(may_be_stopped(), UnorderedElementsAre(200, 201)) << "a client of the session";

    tree.processes[200].sockets.peers = {9, 10};
    EXPECT_THAT(found(Fate::shared), ElementsAre(200)) << "another process";

    tree.processes[200].sockets.peers = {0};
    EXPECT_THAT(found(Fate::shared), ElementsAre(200)) << "another host";
}

TEST_F(FindLeftovers, ThatWorkForAServerInItsTerminalSessionAreSharedWithIt) {
    start(200, wrapper, 1001, 200).sockets.listens_on_unix = true;
    start(201, wrapper, 1002, 200);  // its worker, an orphan like itself
    EXPECT_THAT(found(Fate::shared), ElementsAre(200, 201));
}

TEST_F(FindLeftovers, ALongCommandLineIsCutBetweenLetters) {
    auto& left = start(102, wrapper, 1010, shell);
    left.command_line = "x";
    while (left.command_line.size() <= limits::leftover_command_bytes_max) {
        left.command_line += "\xC3\xA4";  // one letter
    }
    const auto all = find_leftovers(search, tree, owners);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_LE(all[0].command.size(), limits::leftover_command_bytes_max);
    EXPECT_GE(all[0].command.size(), limits::leftover_command_bytes_max - 1);
    EXPECT_TRUE(is_utf8(all[0].command));
}

}  // namespace
}  // namespace knell
