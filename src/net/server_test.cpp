// The server on a thread of its own, with clients on real sockets: who is let in, and what happens
// when the kernel lets nobody in.

#include "net/server.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "testing/in_process_backend.hpp"
#include "testing/refused_calls.hpp"
#include "testing/temp_folder.hpp"

namespace knell::net {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Blocks until it is answered.
class Caller {
  public:
    explicit Caller(const std::string& path)
        : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::ranges::copy(path, std::begin(address.sun_path));
        const auto* generic = reinterpret_cast<const sockaddr*>(&address);
        if (::connect(fd_.get(), generic, sizeof address) != 0) {
            throw std::system_error(errno, std::generic_category(), path);
        }
    }
    void ask(std::string_view method) const {
        const auto line = fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}"}})", method) + "\n";
        send(line);
    }
    void send(std::string_view bytes) const {
        ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    /// "" when it was closed.
    std::string line() const {
        std::string line;
        for (char byte = 0; ::recv(fd_.get(), &byte, 1, 0) == 1 && byte != '\n';) line += byte;
        return line;
    }
    std::string answer(std::string_view method = "hooks.list") const {
        ask(method);
        return line();
    }

  private:
    Fd fd_;
};

constexpr auto answered = "\"hooks\":[]";

class ServerTrial : public ::testing::Test {
  protected:
    ServerTrial() {
        auto address = SocketAddress::claim(path_, "home");
        if (!address) throw std::runtime_error(address.error().message);
        address_.emplace(std::move(*address));
    }
    ~ServerTrial() override {
        loop_.stop();
        if (thread_.joinable()) thread_.join();
    }
    void listen() {
        const auto listening = server_.listen(*address_);
        ASSERT_TRUE(listening) << listening.error().message;
    }
    void serve() {
        listen();
        thread_ = std::jthread([this] { loop_.run(); });
    }
    /// On the server's thread; waits until it is done.
    void on_server(std::function<void()> work) {
        std::promise<void> done;
        loop_.post([&] {
            work();
            done.set_value();
        });
        done.get_future().wait();
    }

    const knell::testing::TempFolder temp_;
    const std::string path_ = temp_.path() + "/run/knell.sock";
    std::optional<SocketAddress> address_;
    knell::testing::InProcessBackend backend_;
    EventLoop loop_;
    ClientCount clients_{2};
    Server server_{loop_, backend_.dispatcher(), clients_};
    std::jthread thread_;
};

TEST_F(ServerTrial, OneMoreThanTheMostIsToldAndClosed) {
    serve();
    const Caller first(path_);
    std::optional<Caller> second(path_);
    ASSERT_THAT(first.answer(), HasSubstr(answered));
    ASSERT_THAT(second->answer(), HasSubstr(answered));

    const Caller third(path_);

    EXPECT_THAT(third.line(), HasSubstr("2 connections are open, the most this daemon takes"));
    EXPECT_EQ(third.line(), "");
    EXPECT_THAT(first.answer(), HasSubstr(answered));

    second.reset();
    // Its place is free once the server has seen its end, which nobody tells us.
    std::string said;
    while (!said.contains(answered)) said = Caller(path_).answer();
    EXPECT_THAT(first.answer(), HasSubstr(answered));
}

TEST_F(ServerTrial, ACallThatFillsTheBufferToItsLastByteIsNotTheLast) {
    constexpr std::size_t buffer_size = 64 * 1024;
    listen();
    const Caller caller(path_);
    std::string line = R"({"jsonrpc":"2.0","id":1,"method":"hooks.list"})";
    line.resize(buffer_size - 1, ' ');
    caller.send(line + "\n");  // all of it is there when the server first looks
    thread_ = std::jthread([this] { loop_.run(); });

    EXPECT_THAT(caller.line(), HasSubstr(answered));
    EXPECT_THAT(caller.answer(), HasSubstr(answered)) << "there was nothing more to read just then";
}

TEST_F(ServerTrial, AnotherUserIsToldSoAndClosed) {
    if (geteuid() != 0) GTEST_SKIP() << "needs to be root, to be another user";
    serve();
    std::string said;
    std::jthread([&] {
        // For this thread alone, by the bare call; it may still open what is root's.
        prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP);
        syscall(SYS_setresuid, 65'534, 65'534, 65'534);
        said = Caller(path_).line();
    }).join();
    EXPECT_THAT(said, HasSubstr("uid 65534 may not use the daemon of uid 0"));
    EXPECT_THAT(said, HasSubstr("unauthorized"));
    EXPECT_THAT(Caller(path_).answer(), HasSubstr(answered));
}

TEST_F(ServerTrial, WhoCannotBeToldApartIsNotLetIn) {
    listen();
    const Caller caller(path_);
    std::jthread server([this] {
        knell::testing::with_refused_calls({SYS_getsockopt}, ENOBUFS, [this] { loop_.run(); });
    });
    EXPECT_THAT(caller.line(), HasSubstr("cannot tell who is calling"));
    EXPECT_EQ(clients_.open(), 0U);
    loop_.stop();
}

#ifndef KNELL_NEEDS_DESCRIPTORS
TEST_F(ServerTrial, WhoCallsWhileThereIsNoDescriptorIsServedWhenThereIs) {
    listen();
    const Caller caller(path_);
    caller.ask("hooks.list");
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    loop_.after(20ms, [&] { setrlimit(RLIMIT_NOFILE, &before); });
    thread_ = std::jthread([this] { loop_.run(); });

    EXPECT_THAT(caller.line(), HasSubstr(answered));
}
#endif

TEST_F(ServerTrial, ItStopsWhileNobodyCanBeLetIn) {
    listen();
    const Caller caller(path_);
    loop_.after(20ms, [this] { loop_.stop(); });
    knell::testing::with_refused_calls({SYS_accept, SYS_accept4}, EMFILE, [this] { loop_.run(); });
    EXPECT_EQ(clients_.open(), 0U);
}

TEST_F(ServerTrial, WhoWaitsAtASocketThatWasDeletedIsServed) {
    listen();
    const Caller waits(path_);
    waits.ask("hooks.list");
    fs::remove(path_);

    const auto bound = server_.keep_listening();

    ASSERT_TRUE(bound) << bound.error().message;
    EXPECT_TRUE(*bound);
    EXPECT_FALSE(*server_.keep_listening()) << "it is there";
    thread_ = std::jthread([this] { loop_.run(); });
    EXPECT_THAT(waits.line(), HasSubstr(answered));
    EXPECT_THAT(Caller(path_).answer(), HasSubstr(answered));
}

TEST_F(ServerTrial, WhatCannotBeBoundAgainIsSaidAndTheConnectedStay) {
    serve();
    const Caller caller(path_);
    ASSERT_THAT(caller.answer(), HasSubstr(answered));
    fs::remove(path_);
    fs::create_directory(path_);
    on_server([this] {
        const auto bound = server_.keep_listening();
        EXPECT_FALSE(bound);
    });
    EXPECT_THAT(caller.answer(), HasSubstr(answered));
}

TEST_F(ServerTrial, AnAddressThatIsTakenIsNotListenedAt) {
    fs::create_directory(path_);
    EXPECT_FALSE(server_.listen(*address_));
}

TEST_F(ServerTrial, ASocketThatCannotBeWatchedIsAnError) {
    knell::testing::with_refused_calls({SYS_epoll_ctl}, ENOSPC, [this] {
        const auto listening = server_.listen(*address_);
        ASSERT_FALSE(listening);
        EXPECT_THAT(listening.error().message, HasSubstr("cannot listen"));
    });
}

TEST_F(ServerTrial, NothingIsBoundAgainOnceItStops) {
    listen();
    loop_.stop();
    fs::remove(path_);
    EXPECT_FALSE(*server_.keep_listening());
    EXPECT_FALSE(fs::exists(path_));
}

TEST_F(ServerTrial, ASignalStopsIt) {
    for (const int signal : {SIGTERM, SIGINT}) {
        EventLoop loop;
        ClientCount clients(2);
        const Server server(loop, backend_.dispatcher(), clients);
        loop.post([&] { ::raise(signal); });
        loop.run();
        EXPECT_EQ(clients.open(), 0U);
    }
}

TEST_F(ServerTrial, WhatWasTakenIsAnsweredBeforeItEnds) {
    backend_.holds_reads = true;
    serve();
    const Caller caller(path_);
    caller.ask("config.check");
    // Behind the call on the same connection, so the call has been taken by then.
    ASSERT_THAT(caller.answer(), HasSubstr(answered));
    loop_.stop();
    loop_.post([this] { backend_.do_reads(); });
    EXPECT_THAT(caller.line(), HasSubstr("\"ok\":true"));
    thread_.join();
}

TEST_F(ServerTrial, WhatIsNeverAnsweredDoesNotKeepItForever) {
    backend_.holds_reads = true;
    serve();
    const Caller caller(path_);
    caller.ask("config.check");
    ASSERT_THAT(caller.answer(), HasSubstr(answered));
    loop_.stop();
    thread_.join();
    EXPECT_EQ(clients_.open(), 1U) << "it was there to the end";
}

TEST_F(ServerTrial, AHangupIsWorkForTheServerEachTime) {
    int hangups = 0;
    loop_.on_hangup([&] {
        if (++hangups == 2) return loop_.stop();
        ::raise(SIGHUP);
    });
    loop_.post([] { ::raise(SIGHUP); });
    loop_.run();
    EXPECT_EQ(hangups, 2);
}

TEST_F(ServerTrial, AHangupThatIsIgnoredStaysSo) {
    ::signal(SIGHUP, SIG_IGN);
    int hangups = 0;
    loop_.on_hangup([&] { ++hangups; });
    loop_.post([this] {
        ::raise(SIGHUP);
        loop_.stop();
    });
    loop_.run();
    EXPECT_EQ(hangups, 0);
    ::signal(SIGHUP, SIG_DFL);
}

TEST_F(ServerTrial, WorkIsDoneEveryPeriodUntilItStops) {
    int done = 0;
    loop_.every(1ms, [&] {
        if (++done == 3) loop_.stop();
    });
    loop_.run();
    EXPECT_EQ(done, 3);
}

}  // namespace
}  // namespace knell::net
