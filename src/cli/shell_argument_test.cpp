#include "cli/shell_argument.hpp"

#include <array>
#include <cstdio>
#include <memory>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/wait.h>

namespace knell::cli {
namespace {

/// What a shell makes of it, each argument in brackets.
std::string arguments_of(const std::string& command) {
    const auto line = "printf '[%s]' " + command;
    const auto close = [](FILE* file) { ::pclose(file); };
    const std::unique_ptr<FILE, decltype(close)> output(::popen(line.c_str(), "r"), close);
    std::string all;
    std::array<char, 4096> chunk{};
    while (const auto count = std::fread(chunk.data(), 1, chunk.size(), output.get())) {
        all.append(chunk.data(), count);
    }
    return all;
}

TEST(ShellArgument, LeavesAPlainWordAsItIs) {
    EXPECT_EQ(shell_argument("agent:main:telegram:dm:42"), "agent:main:telegram:dm:42");
    EXPECT_EQ(shell_argument("01a1e5c9-68de-748d-8578-80b7c613d4a6"),
              "01a1e5c9-68de-748d-8578-80b7c613d4a6");
}

TEST(ShellArgument, QuotesWhatAShellWouldRun) {
    EXPECT_EQ(shell_argument("$(reboot); `x` ~"), "'$(reboot); `x` ~'");
    EXPECT_EQ(shell_argument("it's"), R"('it'\''s')");
    EXPECT_EQ(shell_argument(""), "''");
    EXPECT_EQ(shell_argument("=ls"), "'=ls'") << "zsh looks for a command of that name";
}

TEST(ShellArgument, KeepsAnOptionFromBeingOne) {
    EXPECT_EQ(shell_argument("--all"), "-- --all");
    EXPECT_EQ(shell_argument("-1 x"), "-- '-1 x'");
}

TEST(ShellArgument, IsOneLineWhateverIsInIt) {
    EXPECT_FALSE(shell_argument("a\nrm -rf b\r\x1b[2K").contains('\n'));
}

RC_GTEST_PROP(ShellArgument, AShellGetsBackWhatItIsOf, ()) {
    const auto text = *rc::gen::container<std::string>(
        rc::gen::elementOf(std::string("az09 -_.:/@%+,'\"\\$`;&|<>(){}[]*?~#!=^")));
    RC_PRE(!text.starts_with('-'));
    RC_ASSERT(arguments_of(shell_argument(text)) == "[" + text + "]");
}

}  // namespace
}  // namespace knell::cli
