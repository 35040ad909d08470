#include "activity/socket_table.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "platform/fd.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int established = 1;
constexpr int time_wait = 6;
constexpr int listening = 10;

TcpEnd at(const char* text) {
    return parse_tcp_end(text).value();
}
const auto server = at("0100007F:1F90");      // 127.0.0.1:8080
const auto client = at("0100007F:9C40");      // 127.0.0.1:40000
const auto far_client = at("0300000A:9C40");  // 10.0.0.3:40000
const auto everywhere = at("00000000:1F90");  // 0.0.0.0:8080
const auto nowhere = at("00000000:0000");

TEST(SocketTable, ReadsAddressesAsTheKernelWritesThem) {
    EXPECT_EQ(to_text(server), "127.0.0.1:8080");
    EXPECT_EQ(to_text(at("00000000000000000000000001000000:0050")), "[::1]:80");
    EXPECT_EQ(to_text(at("0000000000000000FFFF00000100007F:1F90")), "127.0.0.1:8080");
    EXPECT_TRUE(everywhere.is_any());
    EXPECT_TRUE(at("00000000000000000000000000000000:0050").is_any());
    EXPECT_FALSE(at("00000000000000000000000001000000:0050").is_any());
    EXPECT_FALSE(server.is_any());
    EXPECT_FALSE(parse_tcp_end("0100007F"));
    EXPECT_FALSE(parse_tcp_end("01:1F90"));
}

TEST(SocketTable, FindsWhatATreesListenersServe) {
    SocketTable table;
    table.add({.local = server, .remote = nowhere, .state = listening, .inode = 10});
    table.add({.local = server, .remote = client, .state = established, .inode = 11, .bytes = 7});
    table.add({.local = client, .remote = server, .state = established, .inode = 12, .bytes = 7});

    const auto seen = table.of({10, 11});
    EXPECT_THAT(seen.listens, ElementsAre("127.0.0.1:8080"));
    ASSERT_THAT(seen.connections, SizeIs(1));
    EXPECT_TRUE(seen.connections.front().is_accepted);
    EXPECT_TRUE(seen.connections.front().is_open);
    EXPECT_EQ(seen.connections.front().bytes, 7U);

    EXPECT_EQ(table.of({10}), seen) << "accepted after descriptors were listed";

    const auto clients = table.of({12, 99});
    EXPECT_THAT(clients.listens, IsEmpty());
    ASSERT_THAT(clients.connections, SizeIs(1));
    EXPECT_FALSE(clients.connections.front().is_accepted);
    EXPECT_EQ(clients.connections.front().mark, seen.connections.front().mark);
}

TEST(SocketTable, RemembersWhatCameAndWent) {
    SocketTable table;
    table.add({.local = everywhere, .remote = nowhere, .state = listening, .inode = 10});
    table.add({.local = server, .remote = far_client, .state = time_wait});  // closed here first
    table.add({.local = client, .remote = server, .state = time_wait});      // closed there first

    const auto seen = table.of({10});

    ASSERT_THAT(seen.connections, SizeIs(2));
    for (const auto& connection : seen.connections) {
        EXPECT_TRUE(connection.is_accepted);
        EXPECT_FALSE(connection.is_open);
    }
}

TEST(SocketTable, TellsListenersOfOnePortApart) {
    SocketTable table;
    const auto other = at("0200007F:1F90");  // 127.0.0.2:8080
    table.add({.local = server, .remote = nowhere, .state = listening, .inode = 10});
    table.add({.local = other, .remote = nowhere, .state = listening, .inode = 20});
    table.add({.local = other, .remote = client, .state = established, .inode = 21});

    EXPECT_THAT(table.of({10}).connections, IsEmpty());
    EXPECT_THAT(table.of({20}).connections, SizeIs(1));
}

TEST(SocketTable, AConnectionThroughTheLoopbackIsOne) {
    SocketTable table;
    table.add({.local = server, .remote = nowhere, .state = listening, .inode = 10});
    table.add({.local = client, .remote = server, .state = time_wait});
    table.add({.local = server, .remote = client, .state = established, .inode = 11});

    const auto seen = table.of({10});

    ASSERT_THAT(seen.connections, SizeIs(1));
    EXPECT_TRUE(seen.connections.front().is_open) << "the living one of a port that is used again";
}

TEST(SocketTable, ReadsTheFilesOfProc) {
    const testing::TempFolder folder;
    std::ofstream(folder.path() + "/tcp")
        << "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
           "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0 "
           "       0 10 1 0000 100 0 0 10 0\n"
           "   1: 0100007F:1F90 0100007F:9C40 01 00000000:00000005 00:00000000 00000000     0 "
           "       0 11 1 0000 20 4 30 10 -1\n"
           "   2: nonsense\n";
    SocketTable table;
    EXPECT_FALSE(read_net_unix(table, folder.path()));
    ASSERT_TRUE(read_net_tcp(table, folder.path())) << "without IPv6";
    std::ofstream(folder.path() + "/unix")
        << "Num       RefCount Protocol Flags    Type St Inode Path\n"
           "0000000000000000: 00000002 00000000 00010000 0001 01 501 /run/a b.sock\n"
           "0000000000000000: 00000003 00000000 00000000 0001 03 502 /run/a b.sock\n"
           "0000000000000000: 00000002 00000000 00010000 0005 01 503\n";
    ASSERT_TRUE(read_net_unix(table, folder.path()));

    const auto seen = table.of({10, 501, 502, 503});

    EXPECT_THAT(seen.listens, ElementsAre("/run/a b.sock", "127.0.0.1:8080", "a unix socket"));
    ASSERT_THAT(seen.connections, SizeIs(1));
    EXPECT_TRUE(seen.connections.front().has_queue);
    EXPECT_FALSE(read_net_tcp(table, folder.path() + "/none"));
}

/// A listener of this process, and a connection to it.
class OwnConnection : public ::testing::Test {
  protected:
    void SetUp() override {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* raw = reinterpret_cast<sockaddr*>(&address);
        ASSERT_EQ(bind(listener_.get(), raw, size), 0);
        ASSERT_EQ(listen(listener_.get(), 4), 0);
        ASSERT_EQ(getsockname(listener_.get(), raw, &size), 0);
        ASSERT_EQ(connect(client_.get(), raw, size), 0);
        accepted_ = Fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        ASSERT_TRUE(accepted_);
    }
    static std::uint64_t inode(const Fd& fd) {
        struct stat found{};
        return fstat(fd.get(), &found) == 0 ? found.st_ino : 0;
    }

    Fd listener_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    Fd client_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    Fd accepted_;
};

TEST_F(OwnConnection, IsSeenThroughSockDiagWithItsBytes) {
    const auto look = [&] {
        SocketTable table;
        EXPECT_TRUE(read_sock_diag(table));
        return table.of({inode(listener_)});
    };
    const auto before = look();
    ASSERT_THAT(before.listens, SizeIs(1));
    ASSERT_THAT(before.connections, SizeIs(1));
    EXPECT_EQ(before.connections.front().bytes, 0U);

    ASSERT_EQ(send(client_.get(), "hello", 5, 0), 5);
    char bytes[5];
    ASSERT_EQ(recv(accepted_.get(), bytes, sizeof bytes, MSG_WAITALL), 5);

    EXPECT_EQ(look().connections.front().bytes, 5U);
}

TEST_F(OwnConnection, IsTheSameInBothTables) {
    SocketTable diag;
    ASSERT_TRUE(read_sock_diag(diag));
    SocketTable files;
    ASSERT_TRUE(read_net_tcp(files, "/proc/self/net"));

    EXPECT_EQ(diag.of({inode(listener_)}), files.of({inode(listener_)}));
}

}  // namespace
}  // namespace knell
