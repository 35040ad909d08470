// SIGHUP: the config is read again; a foreground daemon that lost its terminal stops as it should.

#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "functional/harness/owners.hpp"
#include "functional/harness/waiting.hpp"

namespace knell::functional {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Hangup : public WithOwners {};

TEST_F(Hangup, ReadsTheConfigAgainAndGoesOn) {
    // What is behind a link changes without a sign in the folder that is watched.
    const TempHome elsewhere;
    const auto target = elsewhere.file("config.yaml");
    write_file(target, "events:\n  keep_days: 30\n");
    fs::create_symlink(target, home.file("config.yaml"));
    client.must("hooks.list");  // the link has been seen by now
    write_file(target, "events:\n  keep_days: often\n");

    daemon.signal(SIGHUP);

    daemon.wait_for_log("SIGHUP: reading");
    daemon.wait_for_log("keep_days");
    EXPECT_TRUE(client.call("node.status").ok());
}

TEST_F(Hangup, IsIgnoredUnderNohup) {
    daemon.terminate();
    Pipe log;
    auto spawn = home.command({"up"});
    spawn.argv.insert(spawn.argv.begin(), "nohup");
    spawn.err = log.writing.get();
    Process process(spawn);
    log.writing.reset();
    std::string said;
    while (!said.contains("listens at")) ASSERT_TRUE(read_available(log.reading.get(), said));

    process.signal(SIGHUP);

    EXPECT_TRUE(Client(home.socket()).call("node.status").ok());
    process.signal(SIGTERM);
    EXPECT_EQ(process.wait(), 0);
    said += read_to_end(log.reading.get());
    EXPECT_THAT(said, Not(HasSubstr("SIGHUP")));
}

/// A daemon in the foreground of a terminal of its own.
class OnATerminal : public WithOwners {
  protected:
    void SetUp() override {
        daemon.terminate();
        terminal = Fd{posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
        ASSERT_EQ(grantpt(terminal.get()), 0);
        ASSERT_EQ(unlockpt(terminal.get()), 0);
        const Fd inner{open(ptsname(terminal.get()), O_RDWR | O_NOCTTY | O_CLOEXEC)};
        auto spawn = home.command({"up"});
        spawn.argv.insert(spawn.argv.begin(), {"setsid", "--ctty"});
        spawn.in = inner.get();
        spawn.err = log.writing.get();
        process.emplace(spawn);
        log.writing.reset();
        wait_until_said("listens at");
        reconnect();
    }
    void wait_until_said(std::string_view text) {
        while (!said.contains(text)) {
            wait_for(log.reading.get(), POLLIN, "a line in the log");
            ASSERT_TRUE(read_available(log.reading.get(), said)) << said;
        }
    }

    Fd terminal;
    Pipe log;
    std::string said;
    std::optional<Process> process;
};

TEST_F(OnATerminal, StopsAsOnATermSignalWhenItIsClosed) {
    terminal.reset();

    EXPECT_EQ(process->wait(), 0);

    wait_until_said("the terminal was closed");
    daemon.start();
    reconnect();
    std::vector<std::string> stops;
    for (const auto& event : all_events(client)) {
        if (text(event, "type") == "gateway:shutdown") stops.push_back(text(event, "detail"));
    }
    ASSERT_EQ(stops.size(), 2U) << "the first is of the daemon before";
    EXPECT_THAT(stops.back(), HasSubstr("because its terminal was closed"));
}

TEST_F(OnATerminal, ASignalAloneOnlyReadsTheConfig) {
    process->signal(SIGHUP);

    wait_until_said("SIGHUP: reading");
    EXPECT_TRUE(client.call("node.status").ok());
    process->signal(SIGTERM);
    EXPECT_EQ(process->wait(), 0);
}

}  // namespace
}  // namespace knell::functional
