#include "client/connection.hpp"

#include <algorithm>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "testing/temp_folder.hpp"

namespace knell::client {
namespace {

/// Listens on a unix socket and answers every line it reads with the next of `answers`.
class ScriptedDaemon {
  public:
    ScriptedDaemon(const std::string& directory, std::vector<std::string> answers)
        : answers_(std::move(answers)), listener_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
        // Bound from inside its directory, as a long path cannot be given to bind.
        const auto before = std::filesystem::current_path();
        std::filesystem::current_path(directory);
        sockaddr_un name{};
        name.sun_family = AF_UNIX;
        std::ranges::copy(std::string_view("knell.sock"), std::begin(name.sun_path));
        EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
        EXPECT_EQ(::listen(listener_.get(), 1), 0);
        std::filesystem::current_path(before);
        thread_ = std::thread([this] { serve(); });
    }
    ~ScriptedDaemon() { thread_.join(); }

  private:
    void serve() {
        const Fd peer{::accept(listener_.get(), nullptr, nullptr)};
        for (const auto& answer : answers_) {
            char byte = 0;
            while (byte != '\n' && ::recv(peer.get(), &byte, 1, 0) == 1) {
            }
            ::send(peer.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
        }
    }

    const std::vector<std::string> answers_;
    Fd listener_;
    std::thread thread_;
};

class ConnectionTest : public ::testing::Test {
  protected:
    std::string socket() const { return directory_ + "/knell.sock"; }

    const knell::testing::TempFolder folder_;
    std::string directory_ = folder_.path();
};

TEST_F(ConnectionTest, ACallGivesItsResult) {
    ScriptedDaemon daemon(directory_, {R"({"jsonrpc":"2.0","id":1,"result":{"pid":7}})"
                                       "\n"});
    auto connection = Connection::open(socket());
    ASSERT_TRUE(connection) << connection.error().message;

    const auto result = connection->call_object("node.status", {});

    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(wire::int_at(*result, "pid"), 7);
}

TEST_F(ConnectionTest, AnErrorKeepsItsCode) {
    ScriptedDaemon daemon(directory_,
                          {R"({"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"over"}})"
                           "\n"});
    auto connection = Connection::open(socket());
    ASSERT_TRUE(connection);

    const auto result = connection->call("session.create", {});

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::ended);
    EXPECT_EQ(result.error().message, "over");
}

TEST_F(ConnectionTest, WhatTheDaemonTellsOnItsOwnIsNotAnAnswer) {
    ScriptedDaemon daemon(directory_, {R"({"jsonrpc":"2.0","method":"event","params":{}})"
                                       "\n"
                                       R"({"jsonrpc":"2.0","id":1,"result":{"ok":true}})"
                                       "\n"});
    auto connection = Connection::open(socket());
    ASSERT_TRUE(connection);

    const auto result = connection->call_object("session.list", {});

    ASSERT_TRUE(result);
    EXPECT_TRUE(wire::bool_at(*result, "ok"));
    const auto told = connection->take_notification();
    ASSERT_TRUE(told && *told) << "what came before the answer is lost";
    EXPECT_EQ(wire::text_at(**told, "method"), "event");
}

TEST_F(ConnectionTest, WhatIsToldAfterTheAnswerIsTakenOneByOneUntilTheEnd) {
    std::optional<Connection> connection;
    {
        ScriptedDaemon daemon(directory_,
                              {R"({"jsonrpc":"2.0","id":1,"result":{"after":0}})"
                               "\n"
                               R"({"jsonrpc":"2.0","method":"event","params":{"seq":1}})"
                               "\n"
                               R"({"jsonrpc":"2.0","method":"event","params":{"seq":2}})"
                               "\n"
                               R"({"jsonrpc":"2.0","method":"ev)"});
        auto opened = Connection::open(socket());
        ASSERT_TRUE(opened);
        connection = std::move(*opened);
        ASSERT_TRUE(connection->call("events.subscribe", {}));
    }

    for (const int seq : {1, 2}) {
        const auto told = connection->take_notification();
        ASSERT_TRUE(told && *told);
        EXPECT_EQ(wire::int_at((**told).at("params").as_object(), "seq"), seq);
    }
    const auto end = connection->take_notification();
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().code, ErrorCode::unreachable);
    EXPECT_EQ(connection->fd(), -1) << "it is closed";
}

TEST_F(ConnectionTest, WhatIsToldIsReadUntilItIsWhole) {
    // Longer than what is read at once together with the answer.
    const std::string title(300'000, 'x');
    ScriptedDaemon daemon(directory_, {R"({"jsonrpc":"2.0","id":1,"result":{"after":0}})"
                                       "\n"
                                       R"({"jsonrpc":"2.0","method":"event","params":{"title":")" +
                                       title + "\"}}\n"});
    auto connection = Connection::open(socket());
    ASSERT_TRUE(connection);
    ASSERT_TRUE(connection->call("events.subscribe", {}));

    auto told = connection->take_notification();
    while (told && !*told) {
        pollfd more{.fd = connection->fd(), .events = POLLIN, .revents = 0};
        ASSERT_EQ(::poll(&more, 1, 30'000), 1);
        told = connection->take_notification();
    }

    ASSERT_TRUE(told) << told.error().message;
    EXPECT_EQ(wire::text_at((**told).at("params").as_object(), "title"), title);
}

TEST_F(ConnectionTest, AnAnswerToNobodyIsNeitherAnAnswerNorTold) {
    ScriptedDaemon daemon(directory_, {R"({"jsonrpc":"2.0","id":7,"result":{"pid":8}})"
                                       "\n"
                                       R"({"jsonrpc":"2.0","id":1,"result":{"pid":7}})"
                                       "\n"
                                       R"({"jsonrpc":"2.0","method":"event","params":{"seq":1}})"
                                       "\n"});
    auto connection = Connection::open(socket());
    ASSERT_TRUE(connection);

    const auto result = connection->call_object("node.status", {});

    ASSERT_TRUE(result);
    EXPECT_EQ(wire::int_at(*result, "pid"), 7);
    const auto told = connection->take_notification();
    ASSERT_TRUE(told && *told);
    EXPECT_EQ(wire::text_at(**told, "method"), "event");
}

TEST_F(ConnectionTest, AConnectionThatClosesBeforeItsAnswerIsUnreachable) {
    ScriptedDaemon daemon(directory_, {R"({"jsonrpc":"2.0","id":1,"resu)"});
    auto connection = Connection::open(socket());
    ASSERT_TRUE(connection);

    const auto result = connection->call("node.status", {});

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::unreachable);
}

TEST_F(ConnectionTest, APathLongerThanASocketAddressWorks) {
    directory_ += "/" + std::string(120, 'd');
    std::filesystem::create_directory(directory_);
    ScriptedDaemon daemon(directory_, {R"({"jsonrpc":"2.0","id":1,"result":{}})"
                                       "\n"});

    auto connection = Connection::open(socket());

    ASSERT_TRUE(connection) << connection.error().message;
    EXPECT_TRUE(connection->call("node.status", {}));
}

TEST_F(ConnectionTest, ANameLongerThanASocketAddressIsRefused) {
    const auto connection = Connection::open(directory_ + "/" + std::string(200, 'n'));

    ASSERT_FALSE(connection);
    EXPECT_NE(connection.error().message.find("File name too long"), std::string::npos)
        << connection.error().message;
}

TEST_F(ConnectionTest, WithoutADaemonTheErrorSaysHowToStartOne) {
    const auto connection = Connection::open(socket());

    ASSERT_FALSE(connection);
    EXPECT_EQ(connection.error().code, ErrorCode::unreachable);
    EXPECT_EQ(connection.error().message,
              "no daemon answers at " + socket() + ". Start one with: knell up --detach");
}

TEST_F(ConnectionTest, ALongPathWithoutADaemonSaysTheSame) {
    const auto path = directory_ + "/" + std::string(120, 'd') + "/knell.sock";

    const auto connection = Connection::open(path);

    ASSERT_FALSE(connection);
    EXPECT_EQ(connection.error().code, ErrorCode::unreachable);
}

TEST_F(ConnectionTest, ACallPastTheLineLimitIsNotSent) {
    ScriptedDaemon daemon(directory_, {});
    auto connection = Connection::open(socket());
    ASSERT_TRUE(connection);

    const auto result = connection->call("session.append", {{"text", std::string(2U << 20U, 'x')}});

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::limit);
}

}  // namespace
}  // namespace knell::client
