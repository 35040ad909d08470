#include "background/tree_finder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/fake_tree.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr pid_t init = 1;
constexpr pid_t daemon_pid = 50;
constexpr pid_t root_pid = 100;
const std::string our_socket = "/run/knell.sock";

std::string cookie(std::string_view session, std::string_view process,
                   std::string_view socket = our_socket) {
    auto text = fmt::format("HOME=/|KNELL_SESSION_ID={}|KNELL_GENERATION=1|KNELL_SOCKET={}|",
                            session, socket);
    if (!process.empty()) text += fmt::format("KNELL_PROCESS_ID={}|", process);
    std::ranges::replace(text, '|', '\0');
    return text;
}

/// The daemon has started a process for session "s".
class Tree : public ::testing::Test {
  protected:
    Tree() {
        start(init, 0, 1, 0);
        start(daemon_pid, init, 10, daemon_pid).is_daemon = true;
        start(root_pid, daemon_pid, 1000, root_pid).environment = mine();
        root.process = tree.identity(root_pid, tree.processes.at(root_pid).stat);
    }
    testing::FakeProcess& start(pid_t pid, pid_t parent, std::uint64_t ticks, pid_t session) {
        auto& process = tree.processes[pid];
        process = {};
        process.stat.parent = parent;
        process.stat.start_ticks = ticks;
        process.stat.session = session;
        process.stat.group = session;
        return process;
    }
    std::string mine() const { return cookie("s", root.id.text()); }
    std::vector<pid_t> found() const {
        std::vector<pid_t> pids;
        for (const auto& process : find_tree(root, tree, bounds)) {
            pids.push_back(process.pid);
            EXPECT_EQ(process, tree.identity(process.pid, tree.processes.at(process.pid).stat));
        }
        return pids;
    }

    testing::FakeTree tree;
    LiveOwners owners;
    std::set<pid_t> on_record_elsewhere;
    TreeRoot root{ProcessId::from_bits(1), SessionId("s"), {}};
    TreeBounds bounds{our_socket, owners,
                      [this](const ProcessIdentity& process,
                             const SessionId& session) -> std::optional<OthersProcess> {
                          EXPECT_EQ(session, SessionId("s"));
                          if (!on_record_elsewhere.contains(process.pid)) return std::nullopt;
                          return OthersProcess{ProcessId::from_bits(9), SessionId("t")};
                      }};
};

TEST_F(Tree, HoldsTheProcessFirstAndAllBelowIt) {
    start(90, root_pid, 1500, root_pid);  // numbers have gone around
    start(102, 90, 1600, root_pid);
    EXPECT_THAT(found(), ElementsAre(root_pid, 90, 102));
}

TEST_F(Tree, WhatClearedItsEnvironmentIsKnownIfItWasSeen) {
    start(200, init, 1100, 200);
    start(201, 200, 1200, 200);
    EXPECT_THAT(found(), ElementsAre(root_pid)) << "nothing says whose it is";
    root.seen = {tree.identity(200, tree.processes.at(200).stat)};
    EXPECT_THAT(found(), ElementsAre(root_pid, 200, 201));
    tree.processes.erase(root_pid);
    EXPECT_THAT(found(), ElementsAre(200, 201)) << "also when the process is gone";

    auto other_boot = root.seen.front();
    other_boot.boot_id = "another";
    root.seen = {other_boot};
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(Tree, WhoHasThePidOfOneThatWasSeenIsAStranger) {
    start(200, init, 1100, 200);
    root.seen = {tree.identity(200, tree.processes.at(200).stat)};
    start(200, init, 1300, 200);
    EXPECT_THAT(found(), ElementsAre(root_pid));
}

TEST_F(Tree, WhatWasSeenAndIsAnothersByNowIsLeftAlone) {
    start(200, init, 1100, 200);
    start(201, init, 1100, 201).environment = cookie("other", "");
    for (const pid_t pid : {200, 201}) {
        root.seen.push_back(tree.identity(pid, tree.processes.at(pid).stat));
    }
    on_record_elsewhere.insert(200);
    EXPECT_THAT(found(), ElementsAre(root_pid));
}

TEST_F(Tree, WhatDaemonisedIsKnownByItsMark) {
    start(200, init, 1100, 200).environment = mine();
    start(201, 200, 1200, 200);
    start(300, init, 1100, 300).environment = cookie("s", "");  // of the session, not of this one
    start(301, init, 1100, 301).environment = cookie("s", ProcessId::from_bits(2).text());
    start(302, init, 1100, 302).environment =
        cookie("s", root.id.text(), "/run/other.sock");  // of another daemon
    start(303, init, 1100, 303).hides_environment = true;
    EXPECT_THAT(found(), ElementsAre(root_pid, 200, 201));
    tree.processes.erase(root_pid);
    EXPECT_THAT(found(), ElementsAre(200, 201)) << "also when it is gone itself";
}

TEST_F(Tree, WhatIsInItsProcessSessionBelongsToItWhileTheNumberIsItsOwn) {
    start(200, init, 1100, root_pid).environment = "";
    EXPECT_THAT(found(), ElementsAre(root_pid, 200));
    tree.processes[root_pid].stat.state = 'Z';
    EXPECT_THAT(found(), ElementsAre(200)) << "the dead are not signalled";
    tree.processes[root_pid].stat.start_ticks = 1050;  // somebody else has it
    tree.processes[root_pid].stat.state = 'S';
    EXPECT_THAT(found(), ElementsAre(root_pid)) << "with its mark, and so not as itself";
    tree.processes[root_pid].environment = "";
    EXPECT_THAT(found(), IsEmpty());
    tree.processes.erase(root_pid);
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(Tree, OneThatLeadsNoSessionHasOnlyWhatIsBelowIt) {
    tree.processes[root_pid].stat.session = 77;
    start(101, root_pid, 1100, 77);
    start(102, init, 1100, 77);
    start(103, init, 1100, root_pid);
    EXPECT_THAT(found(), ElementsAre(root_pid, 101));
}

TEST_F(Tree, NothingThatStartedBeforeItBelongsToIt) {
    start(200, init, 900, root_pid).environment = mine();
    start(101, root_pid, 999, root_pid);
    EXPECT_THAT(found(), ElementsAre(root_pid));
}

TEST_F(Tree, AStrangerUnderTheNumberOfAParentIsNoParent) {
    start(101, root_pid, 1500, 101);
    start(102, 101, 1400, 102);  // it had another parent then
    EXPECT_THAT(found(), ElementsAre(root_pid, 101));
}

TEST_F(Tree, NumbersOfAnotherBootOrNamespaceMeanOthers) {
    auto other = root;
    root.process.boot_id = "boot-0";
    EXPECT_THAT(found(), IsEmpty());
    root = other;
    root.process.pid_namespace = 2;
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(Tree, OwnersOfOpenSessionsAndWhatIsBelowThemAreSpared) {
    start(101, root_pid, 1100, root_pid);
    start(102, 101, 1200, root_pid);
    start(103, 102, 1300, root_pid).environment = mine();
    owners.add(tree.identity(102, tree.processes[102].stat));
    EXPECT_THAT(found(), ElementsAre(root_pid, 101));
    owners.add(root.process);
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(Tree, BackgroundProcessesOfOtherSessionsAreSpared) {
    start(101, root_pid, 1100, root_pid);
    start(102, 101, 1200, root_pid);
    on_record_elsewhere = {101};
    EXPECT_THAT(found(), ElementsAre(root_pid));
    on_record_elsewhere = {root_pid};
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(Tree, DaemonsAndOtherRunsAreSparedUnlessItIsOneItself) {
    start(101, root_pid, 1100, root_pid).is_daemon = true;
    start(102, 101, 1200, root_pid);
    EXPECT_THAT(found(), ElementsAre(root_pid));
    tree.processes[root_pid].is_daemon = true;
    EXPECT_THAT(found(), ElementsAre(root_pid));
}

TEST_F(Tree, WhatCarriesAnotherCookieIsSparedWithAllBelowIt) {
    for (const auto& other :
         {cookie("t", ""), cookie("s", ProcessId::from_bits(2).text()),
          cookie("s", root.id.text(), "/run/other.sock"), cookie("s", "", "/run/other.sock")}) {
        start(101, root_pid, 1100, root_pid).environment = other;
        start(102, 101, 1200, root_pid);
        EXPECT_THAT(found(), ElementsAre(root_pid));
    }
    start(101, root_pid, 1100, root_pid).environment = cookie("s", "");
    EXPECT_THAT(found(), ElementsAre(root_pid, 101, 102)) << "that of its own session is its own";
}

TEST_F(Tree, WhatWasRegisteredMayHaveACookieOfItsOwn) {
    // Started for session "t" as another background process, and left running by that.
    tree.processes[root_pid].environment = cookie("t", ProcessId::from_bits(2).text());
    start(101, root_pid, 1100, root_pid).environment = cookie("t", ProcessId::from_bits(2).text());
    start(200, init, 1100, 200).environment = cookie("t", ProcessId::from_bits(2).text());
    EXPECT_THAT(found(), ElementsAre(root_pid, 101)) << "which is no mark of what belongs to it";
}

TEST_F(Tree, MarksAreFoundWhoeverCarriesThem) {
    const auto other = ProcessId::from_bits(2);
    start(200, init, 1100, 200).environment = mine();
    start(201, init, 1100, 201).environment = cookie("t", other.text());
    start(202, init, 1100, 202).environment =
        cookie("s", ProcessId::from_bits(3).text(), "/run/other.sock");
    start(203, init, 1100, 203).environment = cookie("s", "no-id");
    start(204, init, 1100, 204).hides_environment = true;
    EXPECT_THAT(find_marks(tree, our_socket), ::testing::UnorderedElementsAre(root.id, other));
}

}  // namespace
}  // namespace knell
