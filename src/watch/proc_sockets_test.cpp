#include "watch/proc_sockets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/fd.hpp"

namespace knell {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto unix_table =
    "Num       RefCount Protocol Flags    Type St Inode Path\n"
    "0000000000000000: 00000002 00000000 00010000 0001 01 501 /tmp/tmux-0/default\n"
    "0000000000000000: 00000003 00000000 00000000 0001 03 502 /tmp/tmux-0/default\n"
    "0000000000000000: 00000002 00000000 00010000 0005 01 503 @abstract\n"
    "0000000000000000: 00000002 00000000 00000000 0002 01 504\n";

TEST(ProcSockets, TellAListenerFromAConnection) {
    EXPECT_TRUE(has_unix_listener(unix_table, {501}));
    EXPECT_FALSE(has_unix_listener(unix_table, {502}));
    EXPECT_TRUE(has_unix_listener(unix_table, {7, 503}));
    EXPECT_FALSE(has_unix_listener(unix_table, {504, 505}));
    EXPECT_FALSE(has_unix_listener("", {501}));
}

TEST(ProcSockets, FindTheOtherEndOfWhatWasAccepted) {
    const auto tcp = parse_tcp_table(
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "
        "timeout "
        "inode\n"
        "   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        "
        "0 "
        "10 1 0 100 0 0 10 0\n"
        "   1: 0100007F:0BB8 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        "
        "0 "
        "11 1 0 20 4 30 10 -1\n"
        "   2: 0100007F:9C40 0100007F:0BB8 01 00000000:00000000 00:00000000 00000000     0        "
        "0 "
        "12 1 0 20 4 30 10 -1\n"
        "   3: 0200000A:0BB8 0300000A:9C41 01 00000000:00000000 00:00000000 00000000     0        "
        "0 "
        "13 1 0 20 4 30 10 -1\n"
        "   4: 0200000A:9C50 0300000A:01BB 01 00000000:00000000 00:00000000 00000000     0        "
        "0 "
        "14 1 0 20 4 30 10 -1\n");
    ASSERT_THAT(tcp, SizeIs(5));

    EXPECT_THAT(accepted_peers(tcp, {10, 11}), ElementsAre(12));
    EXPECT_THAT(accepted_peers(tcp, {10, 11, 13, 14}), ElementsAre(12, 0)) << "14 it opened itself";
    EXPECT_THAT(accepted_peers(tcp, {12}), IsEmpty()) << "a client";
}

TEST(ProcSockets, OfThisProcessCanBeRead) {
    const auto before = read_proc_sockets(getpid());
    ASSERT_TRUE(before);
    const Fd listener{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr address{.sa_family = AF_UNIX, .sa_data = {}};
    ASSERT_EQ(bind(listener.get(), &address, sizeof(sa_family_t)), 0);  // a name of its own
    EXPECT_EQ(read_proc_sockets(getpid())->listens_on_unix, before->listens_on_unix);

    ASSERT_EQ(listen(listener.get(), 1), 0);

    EXPECT_TRUE(read_proc_sockets(getpid())->listens_on_unix);
    EXPECT_EQ(read_proc_sockets(getpid())->own.size(), before->own.size() + 1);
}

TEST(ProcSockets, OfNobodyCannotBeRead) {
    EXPECT_FALSE(read_proc_sockets(-1));
}

}  // namespace
}  // namespace knell
