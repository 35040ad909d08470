// One daemon a home: the lock, the socket, and homes in awkward places.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;

TEST(OneDaemon, ASecondOneIsToldWhoHoldsTheHome) {
    const TempHome home;
    Daemon first(home);

    const auto second = refused_start(home);

    EXPECT_EQ(second.status, 1);
    EXPECT_THAT(second.err, HasSubstr(fmt::format("process {} already runs", first.pid())));
    EXPECT_THAT(second.err, HasSubstr("knell down"));
    EXPECT_TRUE(Client(home.socket()).call("node.status").ok()) << "the first one was disturbed";
}

TEST(OneDaemon, TheNextOneMayComeOnceTheFirstIsDead) {
    const TempHome home;
    Daemon daemon(home);
    const auto first = daemon.pid();

    daemon.restart();

    const auto status = Client(home.socket()).must("node.status");
    EXPECT_EQ(number(status, "pid"), daemon.pid());
    EXPECT_NE(daemon.pid(), first);
}

TEST(OneDaemon, DifferentHomesKnowNothingOfEachOther) {
    const TempHome one;
    const TempHome two;
    Daemon first(one);
    Daemon second(two);
    Client(one.socket()).must("session.create", R"({"id":"s","source":"cli"})");

    EXPECT_EQ(Client(two.socket()).call("session.show", R"({"session_id":"s"})").code(), -32001);
    EXPECT_NE(text(Client(one.socket()).must("node.status"), "node_id"),
              text(Client(two.socket()).must("node.status"), "node_id"));
}

TEST(OneDaemon, ASocketThatADeadOneLeftIsReplaced) {
    const TempHome home;
    Daemon daemon(home);
    daemon.kill9();
    ASSERT_EQ(access(home.socket().c_str(), F_OK), 0);
    EXPECT_EQ(home.knell({"status"}).status, 1);

    daemon.start();

    EXPECT_TRUE(Client(home.socket()).call("node.status").ok());
}

TEST(OneDaemon, HomesMayHaveVeryLongNames) {
    const TempHome home("a/" + std::string(120, 'b') + "/" + std::string(120, 'c'));
    ASSERT_GT(home.socket().size(), 250U);
    Daemon daemon(home);

    EXPECT_TRUE(Client(home.socket()).call("session.create", R"({"id":"s","source":"cli"})").ok());
    const auto shown = home.knell({"show", "s", "--json"});
    EXPECT_EQ(shown.status, 0) << shown.err;
    EXPECT_EQ(text(parse(shown.out), "id"), "s");
    EXPECT_EQ(home.knell({"run", "--", "true"}).status, 0);
}

TEST(OneDaemon, ARelativeHomeIsTakenFromWhereTheCommandRuns) {
    const TempHome home;
    auto spawn = home.command({"up", "--detach"});
    spawn.cwd = home.path();
    spawn.environment["KNELL_HOME"] = "inner";

    const auto up = run_command(spawn);
    const auto socket = home.path() + "/inner/knell.sock";
    ASSERT_EQ(up.status, 0) << up.err;
    EXPECT_TRUE(Client(socket).call("node.status").ok());

    spawn.argv = {knell_binary(), "down"};
    EXPECT_EQ(run_command(spawn).status, 0);
}

TEST(OneDaemon, HomeAndSocketAreForTheirUserOnly) {
    const TempHome home("new");
    Daemon daemon(home);

    for (const auto& [path, mode] : {std::pair{home.path(), 0700U}, std::pair{home.socket(), 0600U},
                                     std::pair{home.file("knell.lock"), 0600U}}) {
        struct stat status{};
        ASSERT_EQ(stat(path.c_str(), &status), 0) << path;
        EXPECT_EQ(status.st_mode & 07777U, mode) << path;
    }
}

}  // namespace
}  // namespace knell::functional
