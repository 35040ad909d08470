#include "platform/supervisor.hpp"

#include <array>
#include <cstdlib>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "platform/environment.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using namespace std::chrono_literals;

/// Binds a socket there; of a stream it listens.
Fd bound(int type, const std::string& path) {
    Fd socket{::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    if (type == SOCK_STREAM) EXPECT_EQ(::listen(socket.get(), 1), 0);
    return socket;
}

std::string received(const Fd& socket) {
    char text[256];
    const auto size = ::recv(socket.get(), text, sizeof text, 0);
    return size < 0 ? "" : std::string(text, static_cast<std::size_t>(size));
}

class SupervisorTest : public ::testing::Test {
  protected:
    ~SupervisorTest() override {
        for (const auto* name : names) ::unsetenv(name);
    }
    static constexpr std::array names{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
                                      "LISTEN_PID",    "LISTEN_FDS",    "LISTEN_FDNAMES"};
    const testing::TempFolder folder;
};

TEST_F(SupervisorTest, WithoutOneNothingIsToldOrTaken) {
    auto supervisor = Supervisor::from_environment();

    supervisor.tell("READY=1");

    EXPECT_FALSE(supervisor.is_there());
    EXPECT_FALSE(supervisor.watchdog());
    const auto listener = supervisor.take_listener();
    ASSERT_TRUE(listener);
    EXPECT_FALSE(*listener);
}

TEST_F(SupervisorTest, IsToldHowThingsAre) {
    const auto path = folder.path() + "/notify";
    const auto socket = bound(SOCK_DGRAM, path);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);

    Supervisor::from_environment().tell("READY=1");

    EXPECT_EQ(received(socket), "READY=1");
}

TEST_F(SupervisorTest, WantsToHearTwiceInItsTimeIfItMeansThisProcess) {
    ::setenv("WATCHDOG_USEC", "30000000", 1);
    ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
    EXPECT_EQ(Supervisor::from_environment().watchdog(), 15s);

    ::setenv("WATCHDOG_USEC", "30000000", 1);
    ::setenv("WATCHDOG_PID", "1", 1);
    EXPECT_FALSE(Supervisor::from_environment().watchdog());
}

TEST_F(SupervisorTest, LeavesNothingForThoseWhoAreStarted) {
    for (const auto* name : names) ::setenv(name, "1", 1);

    Supervisor::from_environment();

    for (const auto* name : names) EXPECT_EQ(environment_variable(name), "") << name;
}

TEST_F(SupervisorTest, ASocketForAnotherProcessIsNotTaken) {
    ::setenv("LISTEN_PID", "1", 1);
    ::setenv("LISTEN_FDS", "1", 1);

    const auto listener = Supervisor::from_environment().take_listener();

    ASSERT_TRUE(listener);
    EXPECT_FALSE(*listener);
}

TEST_F(SupervisorTest, SeveralSocketsAreRefused) {
    ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
    ::setenv("LISTEN_FDS", "2", 1);

    EXPECT_FALSE(Supervisor::from_environment().take_listener());
}

TEST_F(SupervisorTest, TheOtherWayRoundASocketTellsItsPath) {
    const auto path = folder.path() + "/knell.sock";
    const auto socket = bound(SOCK_STREAM, path);

    EXPECT_EQ(path_of_listener(socket.get()), path);
    EXPECT_EQ(path_of_listener(-1), "");
}

}  // namespace
}  // namespace knell
