#include "rpc/caller.hpp"

#include <gtest/gtest.h>

namespace knell::rpc {
namespace {

TEST(Caller, IsDescribedByWhatProvesIt) {
    EXPECT_EQ((Caller{UnixPeer{.pid = 4242, .uid = 1000}}).describe(), "process 4242 (uid 1000)");
    EXPECT_EQ((Caller{UnixPeer{.pid = 0, .uid = 1000}}).describe(),
              "a process that is not visible from here (uid 1000)");
    EXPECT_EQ((Caller{HttpClient{.address = "127.0.0.1:41234", .access = Access::full}}).describe(),
              "HTTP client 127.0.0.1:41234 (full token)");
    EXPECT_EQ((Caller{HttpClient{.address = "[::1]:80"}}).describe(),
              "HTTP client [::1]:80 (read-only token)");
    EXPECT_EQ(Caller{Spooled{}}.describe(), "knell run, spooled while no daemon could be reached");
}

TEST(Caller, OnlyAUnixPeerIsAProcess) {
    const ProcessIdentity process{.pid = 7, .start_ticks = 3};
    const Caller peer{UnixPeer{.pid = 7, .uid = 1, .process = process, .pid_namespace = 5}};
    EXPECT_EQ(peer.process(), process);
    EXPECT_EQ(peer.pid(), 7);
    EXPECT_EQ(peer.pid_namespace(), 5U);
    for (const auto& other : {Caller{HttpClient{}}, Caller{Spooled{}}}) {
        EXPECT_FALSE(other.process());
        EXPECT_EQ(other.pid(), 0);
        EXPECT_EQ(other.pid_namespace(), 0U);
    }
}

TEST(Caller, MayDoEverythingUnlessATokenSaysOtherwise) {
    EXPECT_EQ(Caller{UnixPeer{}}.access(), Access::processes);
    EXPECT_EQ(Caller{Spooled{}}.access(), Access::processes);
    EXPECT_EQ(Caller{HttpClient{}}.access(), Access::read_only);
    EXPECT_EQ((Caller{HttpClient{.address = "", .access = Access::full}}).access(), Access::full);
}

}  // namespace
}  // namespace knell::rpc
