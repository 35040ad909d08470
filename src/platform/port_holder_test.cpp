#include "platform/port_holder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/fd.hpp"

namespace knell {
namespace {

using ::testing::StartsWith;

constexpr auto table =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n"
    "   0: 0100007F:1E25 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 "
    "111 1 0000000000000000 20 4 30 10 -1\n"
    "   1: 0100007F:1E25 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 "
    "222 1 0000000000000000 100 0 0 10 0\n"
    "   2: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
    "333 1 0000000000000000 100 0 0 10 0\n";

TEST(PortHolder, IsFoundAmongThoseThatListen) {
    EXPECT_EQ(listening_inode(table, 7717), "222");
    EXPECT_EQ(listening_inode(table, 80), "333");
    EXPECT_EQ(listening_inode(table, 81), "");
    EXPECT_EQ(listening_inode("", 80), "");
    EXPECT_EQ(listening_inode("a\nb c\n", 80), "");
}

TEST(PortHolder, IsNamed) {
    const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(listener.get(), generic, size), 0);
    ASSERT_EQ(::getsockname(listener.get(), generic, &size), 0);
    const auto port = ntohs(address.sin_port);
    EXPECT_EQ(find_port_holder(port), std::nullopt) << "nobody listens yet";
    ASSERT_EQ(::listen(listener.get(), 1), 0);

    EXPECT_THAT(find_port_holder(port).value_or(""),
                StartsWith(fmt::format("process {} (", ::getpid())));
}

}  // namespace
}  // namespace knell
