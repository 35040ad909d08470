#include "platform/paths.hpp"

#include <map>

#include <gtest/gtest.h>

namespace knell {
namespace {

using Variables = std::map<std::string, std::string>;

Paths paths_with(const Variables& variables) {
    return Paths::from({.variable =
                            [&](const char* name) {
                                const auto found = variables.find(name);
                                return found == variables.end() ? std::string{} : found->second;
                            },
                        .home = "/home/ann",
                        .cwd = "/home/here",
                        .uid = 1000});
}

TEST(Paths, KnellHomeHoldsEverything) {
    const auto paths = paths_with({{"KNELL_HOME", "/srv/knell/"}, {"XDG_RUNTIME_DIR", "/run/u"}});

    EXPECT_EQ(paths.config_file, "/srv/knell/config.yaml");
    EXPECT_EQ(paths.hooks_dir, "/srv/knell/hooks");
    EXPECT_EQ(paths.state_dir, "/srv/knell");
    EXPECT_EQ(paths.store_file, "/srv/knell/knell.db");
    EXPECT_EQ(paths.lock_file, "/srv/knell/knell.lock");
    EXPECT_EQ(paths.spool_dir, "/srv/knell/spool");
    EXPECT_EQ(paths.log_file, "/srv/knell/knell.log");
    EXPECT_EQ(paths.runtime_dir, "/srv/knell");
    EXPECT_EQ(paths.socket, "/srv/knell/knell.sock");
}

TEST(Paths, ARelativeKnellHomeIsTakenFromTheWorkingDirectory) {
    EXPECT_EQ(paths_with({{"KNELL_HOME", "home"}}).socket, "/home/here/home/knell.sock");
}

TEST(Paths, WithoutKnellHomeTheXdgDirectoriesAreUsed) {
    const auto paths = paths_with({{"XDG_CONFIG_HOME", "/xdg/config"},
                                   {"XDG_STATE_HOME", "/xdg/state"},
                                   {"XDG_RUNTIME_DIR", "/run/user/1000"}});

    EXPECT_EQ(paths.config_file, "/xdg/config/knell/config.yaml");
    EXPECT_EQ(paths.store_file, "/xdg/state/knell/knell.db");
    EXPECT_EQ(paths.socket, "/run/user/1000/knell/knell.sock");
}

TEST(Paths, TheDefaultsAreUnderTheHomeDirectory) {
    const auto paths = paths_with({});

    EXPECT_EQ(paths.config_file, "/home/ann/.config/knell/config.yaml");
    EXPECT_EQ(paths.state_dir, "/home/ann/.local/state/knell");
    EXPECT_EQ(paths.socket, "/tmp/knell-1000/knell.sock");
}

TEST(Paths, TheRuntimeFallbackHonoursTmpdir) {
    EXPECT_EQ(paths_with({{"TMPDIR", "/scratch/"}}).runtime_dir, "/scratch/knell-1000");
}

TEST(Paths, RelativeXdgVariablesAreIgnored) {
    const auto paths = paths_with({{"XDG_STATE_HOME", "state"}, {"TMPDIR", "tmp"}});

    EXPECT_EQ(paths.state_dir, "/home/ann/.local/state/knell");
    EXPECT_EQ(paths.runtime_dir, "/tmp/knell-1000");
}

TEST(Paths, AKnellSocketThatIsTheHomesOwnChangesNothing) {
    const auto paths =
        paths_with({{"KNELL_HOME", "/srv/knell"}, {"KNELL_SOCKET", "/srv/knell/knell.sock"}});

    EXPECT_EQ(paths.socket, paths.listen_socket);
    EXPECT_TRUE(paths.calls_own_daemon());
}

TEST(Paths, KnellSocketReplacesOnlyTheSocketOfClients) {
    const auto paths = paths_with({{"KNELL_HOME", "/srv/knell"}, {"KNELL_SOCKET", "other.sock"}});

    EXPECT_EQ(paths.socket, "/home/here/other.sock");
    EXPECT_EQ(paths.listen_socket, "/srv/knell/knell.sock");
    EXPECT_FALSE(paths.calls_own_daemon());
    EXPECT_EQ(paths.runtime_dir, "/srv/knell");
    EXPECT_EQ(paths.store_file, "/srv/knell/knell.db");
}

}  // namespace
}  // namespace knell
