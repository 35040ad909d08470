// What is run as us is what nobody else could have put there, looked at when it is run.

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "functional/harness/hooks.hpp"

namespace knell::functional {
namespace {

using testing::HasSubstr;

class HookTrust : public WithHooks {
  protected:
    /// A hook whose program is in a folder of its own, tools/, beside hooks/.
    void add_hook_with_tool() {
        std::filesystem::create_directory(home.file("tools"));
        write_file(home.file("tools/run"), "#!/bin/sh\ncat >> heard\n");
        allow("tools/run", 0755);
        write_hook(home, "ops", "exit 1", "\"session:end\"",
                   fmt::format("command: {}", home.file("tools/run")));
    }
    void allow(const std::string& name, mode_t mode) const {
        ASSERT_EQ(::chmod(home.file(name).c_str(), mode), 0);
    }
};

TEST_F(HookTrust, AProgramWhereAnybodyCanWriteIsNotRunAndWhyIsSaid) {
    add_hook_with_tool();
    allow("tools", 0777);
    write_file(home.file("hooks/ops/touched"), "");  // tools/ itself is not watched
    until([&] { return !array(client.must("hooks.list"), "problems").empty(); }, "the problem");

    const auto list = home.knell({"hooks"});

    EXPECT_THAT(list.out,
                HasSubstr("not used: $KNELL_HOME/tools/run: anybody could change "
                          "$KNELL_HOME/tools, which it is in: chmod o-w $KNELL_HOME/tools"));
}

TEST_F(HookTrust, AProgramThatCouldBeSwappedSinceItWasReadIsNotRun) {
    add_hook_with_tool();
    wait_until_known("ops");
    live_and_die("a");
    wait_until_heard("ops", "a_1_end");

    allow("tools", 0777);
    write_file(home.file("tools/run"), "#!/bin/sh\ntouch swapped\n");
    live_and_die("b");
    until([&] { return home.knell({"hooks"}).out.contains("chmod o-w $KNELL_HOME/tools"); },
          "the reason");
    EXPECT_FALSE(std::filesystem::exists(home.file("hooks/ops/swapped")));

    allow("tools", 0755);
    write_file(home.file("tools/run"), "#!/bin/sh\ncat >> heard\n");
    EXPECT_EQ(home.knell({"hooks", "retry", "ops"}).status, 0) << "who asks has it looked at again";
    wait_until_heard("ops", "b_1_end");
}

TEST_F(HookTrust, WhatWasRefusedIsRunOnceItIsSafeWithoutBeingAskedFor) {
    add_hook_with_tool();
    wait_until_known("ops");
    allow("tools", 0777);
    write_file(home.file("hooks/ops/touched"), "");
    daemon.wait_for_log("anybody could change");
    live_and_die("a");

    allow("tools", 0755);

    wait_until_heard("ops", "a_1_end");
}

}  // namespace
}  // namespace knell::functional
