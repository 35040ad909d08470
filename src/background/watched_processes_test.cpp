#include "background/watched_processes.hpp"

#include <gtest/gtest.h>

namespace knell {
namespace {

TEST(WatchedProcesses, AreToldApartByTheirSessions) {
    WatchedProcesses running;
    BackgroundProcess process;
    process.id = ProcessId::from_bits(1);
    process.session_id = SessionId("s");
    process.generation = 3;
    process.process = {100, 7, 1, "boot"};
    running.add(process);
    const auto facts = running.find(process.id);
    ASSERT_TRUE(facts);
    EXPECT_EQ(facts->session_id, SessionId("s"));
    EXPECT_EQ(facts->generation, 3);
    EXPECT_EQ(facts->process, process.process);
    EXPECT_TRUE(running.is_on_record(process.process));
    const auto others = running.as_anothers(process.process, SessionId("t"));
    ASSERT_TRUE(others);
    EXPECT_EQ(others->id, process.id);
    EXPECT_EQ(others->session_id, SessionId("s"));
    EXPECT_FALSE(running.as_anothers(process.process, SessionId("s")));
    const LiveOwners owners;
    const auto bounds = running.bounds("/run/knell.sock", owners);
    EXPECT_EQ(bounds.socket, "/run/knell.sock");
    EXPECT_TRUE(bounds.as_others(process.process, SessionId("t")));
    EXPECT_FALSE(bounds.as_others(process.process, SessionId("s")));
    auto stranger = process.process;
    stranger.start_ticks = 8;
    EXPECT_FALSE(running.as_anothers(stranger, SessionId("t")));
    EXPECT_FALSE(running.is_on_record(stranger));
    running.remove(process.id);
    running.remove(process.id);  // said twice
    EXPECT_FALSE(running.find(process.id));
    EXPECT_FALSE(running.is_on_record(process.process));
}

}  // namespace
}  // namespace knell
