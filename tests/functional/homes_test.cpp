// Whose daemon is whose: homes that share a runtime directory, homes behind links, and the daemons
// of other users.

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// Two state homes, one runtime directory, as on a machine with XDG directories.
class XdgHomes : public testing::Test {
  protected:
    Spawn command(const std::string& state, std::vector<std::string> arguments) const {
        auto spawn = root.command(std::move(arguments));
        spawn.environment = {{"XDG_STATE_HOME", root.file(state)},
                             {"XDG_CONFIG_HOME", root.file("config")},
                             {"XDG_RUNTIME_DIR", root.file("run")}};
        return spawn;
    }
    Outcome knell(const std::string& state, std::vector<std::string> arguments) const {
        return run_command(command(state, std::move(arguments)));
    }
    void TearDown() override {
        EXPECT_EQ(knell("one", {"down"}).status, 0);
        EXPECT_EQ(knell("two", {"down"}).status, 0);
    }
    std::string socket() const { return root.file("run/knell/knell.sock"); }

    const TempHome root;
};

TEST_F(XdgHomes, TheSecondStateHomeInOneRuntimeDirectoryIsRefused) {
    ASSERT_EQ(knell("one", {"up", "--detach"}).status, 0);
    const auto pid = number(Client(socket()).must("node.status"), "pid");

    const auto second = knell("two", {"up"});

    EXPECT_EQ(second.status, 1);
    EXPECT_THAT(second.err,
                HasSubstr(fmt::format("process {} already listens at {} for the home {}", pid,
                                      socket(), root.file("one/knell"))));
    EXPECT_EQ(number(Client(socket()).must("node.status"), "pid"), pid);
    EXPECT_FALSE(fs::exists(root.file("two/knell/knell.db"))) << "its store was opened first";
}

TEST_F(XdgHomes, NobodyIsServedByTheDaemonOfAnotherHomeWithoutKnowing) {
    ASSERT_EQ(knell("one", {"up", "--detach"}).status, 0);
    const auto whose = "is that of another home, " + root.file("one/knell");

    for (const auto& verb :
         {std::vector<std::string>{"status"}, {"up", "--detach"}, {"ls"}, {"rpc", "node.status"}}) {
        const auto refused = knell("two", verb);
        EXPECT_EQ(refused.status, 1) << verb.front();
        EXPECT_EQ(refused.out, "") << verb.front();
        EXPECT_THAT(refused.err, HasSubstr(whose)) << verb.front();
    }
    const auto down = knell("two", {"down"});
    EXPECT_EQ(down.status, 0);
    EXPECT_THAT(down.out, HasSubstr("no daemon of this home runs: the daemon at " + socket()));
    auto named = command("two", {"status"});
    named.environment["KNELL_SOCKET"] = socket();
    EXPECT_EQ(run_command(named).status, 0) << "who names a socket has chosen";
}

TEST_F(XdgHomes, ARunOfAnotherHomeIsRecordedInItsOwn) {
    ASSERT_EQ(knell("one", {"up", "--detach"}).status, 0);

    const auto run =
        knell("two", {"run", "--id", "s", "--", "sh", "-c", "echo ${KNELL_SOCKET-none}; exit 4"});

    EXPECT_EQ(run.status, 4);
    EXPECT_EQ(run.out, "none\n");
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
    EXPECT_THAT(run.err, HasSubstr("is that of another home, " + root.file("one/knell")));
    EXPECT_THAT(run.err, HasSubstr(root.file("two/knell/spool/s.jsonl")));
    Client client(socket());
    EXPECT_EQ(client.call("session.show", R"({"session_id":"s"})").kind(), "not_found");
    EXPECT_THAT(names_in(root.file("two/knell/spool")), testing::ElementsAre("s.jsonl"));
}

TEST_F(XdgHomes, ALogoutThatRemovesTheRuntimeDirectoryLeavesTheDaemonReachable) {
    ASSERT_EQ(knell("one", {"up", "--detach"}).status, 0);
    const auto pid = number(Client(socket()).must("node.status"), "pid");
    fs::remove_all(root.file("run"));

    const auto up = knell("one", {"up", "--detach"});

    EXPECT_EQ(up.status, 0) << up.err;
    EXPECT_THAT(up.out, HasSubstr(fmt::format("pid {},", pid)));
    EXPECT_EQ(mode_of(root.file("run/knell")), 0700U);
    EXPECT_EQ(mode_of(socket()), 0600U);
    const auto second = knell("two", {"up"});
    EXPECT_EQ(second.status, 1) << "the lock beside the socket was not taken again";
}

TEST_F(XdgHomes, OneWithAnotherRuntimeDirectoryIsToldWhereTheDaemonListens) {
    ASSERT_EQ(knell("one", {"up", "--detach"}).status, 0);
    auto spawn = command("one", {"run", "--", "true"});
    spawn.environment["XDG_RUNTIME_DIR"] = root.file("elsewhere");

    const auto run = run_command(spawn);

    EXPECT_EQ(run.status, 0);
    EXPECT_THAT(run.err, HasSubstr("KNELL_SOCKET=" + socket()));
}

TEST(LinkedHome, ALinkToAHomeOfOursWorks) {
    const TempHome root;
    const TempHome home("real");
    fs::create_directories(home.path());
    const auto link = root.file("link");
    fs::create_directory_symlink(home.path(), link);
    auto spawn = home.command({"up", "--detach"});
    spawn.environment["KNELL_HOME"] = link;

    const auto up = run_command(spawn);

    ASSERT_EQ(up.status, 0) << up.err;
    spawn.argv = {knell_binary(), "run", "--id", "s", "--", "true"};
    const auto run = run_command(spawn);
    EXPECT_EQ(run.err, "");
    EXPECT_EQ(text(Client(home.socket()).must("session.show", R"({"session_id":"s"})"), "reason"),
              "completed");
    spawn.argv = {knell_binary(), "down"};
    EXPECT_EQ(run_command(spawn).status, 0);
}

TEST(SharedHome, ADirectoryOfAllUsersIsNotClosedToThem) {
    const TempHome home;
    ASSERT_EQ(chmod(home.path().c_str(), 01777), 0);

    const auto up = home.knell({"up"});

    EXPECT_EQ(up.status, 1);
    EXPECT_THAT(up.err, HasSubstr("shared by all users"));
    EXPECT_EQ(mode_of(home.path()), 01777U);
}

TEST(LinkedHome, AStrangersLinkIsRefused) {
    if (geteuid() != 0) GTEST_SKIP() << "needs to be root, to make a link that is another user's";
    const TempHome root;
    const TempHome home("real");
    fs::create_directories(home.path());
    const auto link = root.file("link");
    fs::create_directory_symlink(home.path(), link);
    ASSERT_EQ(lchown(link.c_str(), 65'534, 65'534), 0);
    auto spawn = home.command({"up"});
    spawn.environment["KNELL_HOME"] = link;

    const auto up = run_command(spawn);

    EXPECT_EQ(up.status, 1);
    EXPECT_THAT(up.err, HasSubstr("belongs to another user"));
    EXPECT_THAT(names_in(home.path()), Not(testing::Contains("knell.db")));
}

TEST(DetachedDaemon, ItsNameIsKnell) {
    const TempHome home;
    ASSERT_EQ(home.knell({"up", "--detach"}).status, 0);
    const auto pid = number(Client(home.socket()).must("node.status"), "pid");

    EXPECT_EQ(read_file(fmt::format("/proc/{}/comm", pid)), "knell\n");
}

/// A daemon of user `nobody`, in a home of theirs.
class AnothersDaemon : public testing::Test {
  protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "needs to be root, to become another user";
        // Where the build is, others may not be able to go.
        fs::permissions(home.path(), fs::perms::others_exec, fs::perm_options::add);
        fs::copy_file(knell_binary(), home.file("knell"));
        fs::create_directory(theirs());
        ASSERT_EQ(chown(theirs().c_str(), nobody, nobody), 0);
        Pipe log;
        Spawn spawn;
        spawn.argv = {"setpriv",        "--reuid=65534",    "--regid=65534",
                      "--clear-groups", home.file("knell"), "up"};
        spawn.environment = {{"KNELL_HOME", theirs()}};
        spawn.err = log.writing.get();
        daemon.emplace(spawn);
        log.writing.reset();
        std::string said;
        while (!said.contains("listens at")) {
            ASSERT_TRUE(read_available(log.reading.get(), said)) << said;
        }
    }
    std::string theirs() const { return home.file("theirs"); }
    Outcome as_root(std::vector<std::string> arguments, Environment environment) const {
        auto spawn = home.command(std::move(arguments));
        spawn.environment = std::move(environment);
        return run_command(spawn);
    }

    static constexpr uid_t nobody = 65'534;
    const TempHome home;
    std::optional<Process> daemon;
};

TEST_F(AnothersDaemon, RootMayUseItWhenItIsNamed) {
    const auto status = as_root({"status"}, {{"KNELL_HOME", theirs()}});

    EXPECT_EQ(status.status, 0) << status.err;
    EXPECT_EQ(as_root({"status"}, {{"KNELL_SOCKET", theirs() + "/knell.sock"}}).status, 0);
}

TEST_F(AnothersDaemon, IsToldHowACommandOfRootEnded) {
    const Environment named{{"KNELL_HOME", theirs()}};

    EXPECT_EQ(as_root({"run", "--id", "s", "--", "sh", "-c", "exit 4"}, named).status, 4);

    const auto session = parse(as_root({"show", "s", "--json"}, named).out);
    EXPECT_EQ(text(session, "detail"), "exit 4");
    EXPECT_EQ(text(session, "proof"), "observed");
}

TEST_F(AnothersDaemon, RootDoesNotTalkToOneThatStandsWhereItsOwnWouldBe) {
    fs::create_directory(home.file("run"));
    fs::create_directory_symlink(theirs(), home.file("run/knell"));

    const auto status = as_root({"status"}, {{"XDG_RUNTIME_DIR", home.file("run")}});

    EXPECT_EQ(status.status, 1);
    EXPECT_THAT(status.err, HasSubstr("belongs to another user"));
}

TEST_F(AnothersDaemon, RootKeepsNoRecordInAnothersHome) {
    daemon->signal(SIGTERM);
    ASSERT_EQ(daemon->wait(), 0);
    fs::remove_all(theirs() + "/spool");

    const auto run =
        as_root({"run", "--", "sh", "-c", "echo done; exit 3"}, {{"KNELL_HOME", theirs()}});

    EXPECT_EQ(run.status, 3);
    EXPECT_EQ(run.out, "done\n");
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
    EXPECT_THAT(run.err, HasSubstr("the command runs unrecorded"));
    EXPECT_THAT(run.err, HasSubstr("belongs to another user (uid 65534)"));
    EXPECT_FALSE(fs::exists(theirs() + "/spool"));
}

TEST_F(AnothersDaemon, RootStartsNoneInAnothersHome) {
    daemon->signal(SIGTERM);
    ASSERT_EQ(daemon->wait(), 0);
    const auto before = names_in(theirs());

    const auto up = as_root({"up", "--detach"}, {{"KNELL_HOME", theirs()}});

    EXPECT_EQ(up.status, 1);
    EXPECT_THAT(up.err, HasSubstr("belongs to another user"));
    EXPECT_EQ(names_in(theirs()), before);
}

}  // namespace
}  // namespace knell::functional
