// knell up under a service manager, which is played here: the socket that it listens at, readiness,
// the watchdog, and knell restart.

#include <csignal>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "functional/harness/owners.hpp"
#include "functional/harness/waiting.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;
using testing::Not;

Fd bound(int type, const std::string& path) {
    Fd socket{::socket(AF_UNIX, type | SOCK_CLOEXEC, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return socket;
}

/// Listens for a daemon before there is one, and hears what that says of itself.
class UnderAManager : public testing::Test {
  protected:
    UnderAManager()
        : notify(bound(SOCK_DGRAM, home.file("notify"))),
          listener(bound(SOCK_STREAM, home.socket())) {
        EXPECT_EQ(::listen(listener.get(), 16), 0);
    }
    /// `knell up` as systemd starts it.
    Process start(const Environment& more = {}) {
        auto spawn = home.command({});
        spawn.argv = {
            "sh", "-c",
            "export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$1\" up --http off 3<&0 </dev/null", "sh",
            knell_binary()};
        spawn.in = listener.get();
        spawn.environment["NOTIFY_SOCKET"] = home.file("notify");
        spawn.environment["PATH"] = system_path;
        for (const auto& [name, value] : more) spawn.environment[name] = value;
        return Process(spawn);
    }
    std::string heard() {
        wait_for(notify.get(), POLLIN, "the daemon to say something");
        char text[256];
        const auto size = ::recv(notify.get(), text, sizeof text, 0);
        return size < 0 ? "" : std::string(text, static_cast<std::size_t>(size));
    }

    TempHome home;
    Fd notify;
    Fd listener;
};

TEST_F(UnderAManager, WhoCallsBeforeItIsThereIsAnswered) {
    Client early(home.socket());
    early.send(R"({"jsonrpc":"2.0","id":1,"method":"node.status","params":{}})"
               "\n");

    auto daemon = start();

    EXPECT_EQ(heard(), "READY=1");
    EXPECT_EQ(number(early.read_answer().result(), "pid"), daemon.pid());
}

TEST_F(UnderAManager, ItsSocketStaysWhenTheDaemonGoes) {
    auto daemon = start();
    EXPECT_EQ(heard(), "READY=1");

    daemon.signal(SIGTERM);

    EXPECT_EQ(heard(), "STOPPING=1");
    EXPECT_EQ(daemon.wait(), 0);
    Client next(home.socket());
    next.send(R"({"jsonrpc":"2.0","id":1,"method":"session.list","params":{}})"
              "\n");
    auto second = start();
    EXPECT_EQ(heard(), "READY=1");
    EXPECT_TRUE(next.read_answer().ok());
}

TEST_F(UnderAManager, TheWatchdogHearsTheEventLoopAndNothingWhenThatStandsStill) {
    auto daemon = start({{"WATCHDOG_USEC", "200000"}});
    EXPECT_EQ(heard(), "READY=1");
    EXPECT_EQ(heard(), "WATCHDOG=1");
    EXPECT_EQ(heard(), "WATCHDOG=1");

    daemon.freeze();
    char text[256];
    while (::recv(notify.get(), text, sizeof text, MSG_DONTWAIT) > 0) continue;
    pollfd waiting{.fd = notify.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&waiting, 1, 500), 0);
    daemon.signal(SIGCONT);

    EXPECT_EQ(heard(), "WATCHDOG=1");
}

TEST_F(UnderAManager, ASocketOfAnotherHomeIsRefused) {
    const auto elsewhere = bound(SOCK_STREAM, home.file("other.sock"));
    EXPECT_EQ(::listen(elsewhere.get(), 1), 0);
    listener = Fd{::dup(elsewhere.get())};

    EXPECT_EQ(start().wait(), 1);
}

// --- restart
// --------------------------------------------------------------------------------------

class Restarted : public WithOwners {};

TEST_F(Restarted, SessionsGoOnAndWhoEndedInBetweenIsOnRecord) {
    const auto lives = idle_process();
    auto dies = idle_process();
    own("lives", lives.pid());
    own("dies", dies.pid());
    const auto before = daemon.pid();
    daemon.freeze();
    dies.signal(SIGKILL);
    daemon.signal(SIGCONT);

    const auto outcome = home.knell({"restart"});

    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr(fmt::format("replaced: pid {} by", before)));
    reconnect();
    EXPECT_NE(number(client.must("node.status"), "pid"), before);
    EXPECT_NE(text(show("lives"), "status"), "ended");
    EXPECT_EQ(text(ended("dies"), "status"), "ended");
    EXPECT_EQ(home.knell({"down"}).status, 0);
}

TEST_F(Restarted, WithoutADaemonOneIsStarted) {
    daemon.terminate();

    const auto outcome = home.knell({"restart", "--json"});

    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, Not(HasSubstr("stopped_pid")));
    EXPECT_EQ(home.knell({"down"}).status, 0);
}

}  // namespace
}  // namespace knell::functional
