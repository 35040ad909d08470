#include "cli/agent_process.hpp"

#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace knell::cli {
namespace {

std::optional<pid_t> choose(const std::vector<NamedAncestor>& ancestors) {
    return choose_agent(ancestors);
}

TEST(AgentProcess, IsTheFirstThatIsNoShell) {
    EXPECT_EQ(choose({{30, "sh"}, {20, "claude"}, {10, "bash"}, {1, "init"}}), 20);
    EXPECT_EQ(choose({{20, "node"}, {10, "zsh"}}), 20);
    EXPECT_EQ(choose({{30, "env"}, {20, "-bash"}, {10, "claude"}}), 10);
}

TEST(AgentProcess, IsNotWhoAdoptedTheHook) {
    EXPECT_EQ(choose({{30, "sh"}, {1, "systemd"}}), std::nullopt);
    EXPECT_EQ(choose({{30, "sh"}, {20, "bash"}}), std::nullopt);
    EXPECT_EQ(choose({}), std::nullopt);
}

TEST(AgentProcess, IsTheOneThatIsNamedWhereThatIsAboveUs) {
    EXPECT_EQ(agent_process(::getppid()), ::getppid());
    EXPECT_NE(agent_process(::getpid()), ::getpid()) << "a number that means another process";
}

}  // namespace
}  // namespace knell::cli
