// A daemon that is killed leaves no hook running unseen, and the next one runs none beside it.

#include <csignal>
#include <filesystem>

#include <fmt/format.h>

#include "functional/harness/hooks.hpp"

namespace knell::functional {
namespace {

class HookOrphans : public WithHooks {
  protected:
    /// A pid that a hook has written into a file of its own.
    pid_t pid_in(const std::string& file) {
        const auto path = home.file("hooks/ops/" + file);
        until([&] { return std::filesystem::exists(path); }, "the hook to say its pid");
        return static_cast<pid_t>(std::stol(read_file(path)));
    }
    /// For a script: writes a pid all at once.
    static std::string say(std::string_view pid, std::string_view file) {
        return fmt::format("echo {} > {}.draft; mv {}.draft {};", pid, file, file, file);
    }
    void restart_after_a_crash() {
        daemon.restart();
        reconnect();
    }
};

TEST_F(HookOrphans, AHangingHookAndWhatItStartedAreStoppedByTheNextDaemon) {
    write_hook(home, "ops",
               fmt::format("if test -e main; then {} exec sleep 1000000; fi; sleep 1000000 & {} {} "
                           "wait",
                           say("$$", "again"), say("$!", "child"), say("$$", "main")),
               "\"session:end\"");
    wait_until_known("ops");
    live_and_die("a");
    const Stray main(pid_in("main"));
    const Stray child(pid_in("child"));

    daemon.kill9();
    main.wait_until_gone();
    EXPECT_TRUE(child.is_running()) << "only the main process dies with its daemon";
    restart_after_a_crash();

    const Stray second(pid_in("again"));
    EXPECT_FALSE(child.is_running()) << "it must be gone before the hook is run again";
    EXPECT_TRUE(second.is_running());
    daemon.wait_for_log(fmt::format("stopped process {} of hook ops", child.pid()));
}

TEST_F(HookOrphans, WhatAHookSentAwayIsLeftAlone) {
    // It says its pid itself: by then it has a session of its own.  An event may come twice.
    write_hook(
        home, "ops",
        fmt::format("test -e away-$KNELL_SESSION_ID || setsid sh -c '{} exec sleep 1000000' & "
                    "until test -e away-$KNELL_SESSION_ID; do sleep 0.01; done; cat >> heard",
                    say("$$", "away-$KNELL_SESSION_ID")),
        "\"session:end\"");
    wait_until_known("ops");
    live_and_die("a");
    const Stray away(pid_in("away-a"));
    wait_until_heard("ops", "a_1_end");

    restart_after_a_crash();

    live_and_die("b");
    const Stray second(pid_in("away-b"));  // to be ended with this test
    wait_until_heard("ops", "b_1_end");
    EXPECT_TRUE(away.is_running());
    daemon.wait_for_log(fmt::format("process {}, which hook ops started", away.pid()));
}

TEST_F(HookOrphans, NothingIsLeftWhenTheDaemonIsStopped) {
    write_hook(home, "ops",
               fmt::format("sleep 1000000 & {} {} wait", say("$!", "child"), say("$$", "main")),
               "\"session:end\"");
    wait_until_known("ops");
    live_and_die("a");
    const Stray main(pid_in("main"));
    const Stray child(pid_in("child"));

    EXPECT_EQ(daemon.terminate(), 0);

    main.wait_until_gone();
    child.wait_until_gone();
}

}  // namespace
}  // namespace knell::functional
