// What the installation puts in place: manual pages that man and mandoc take, and completions in
// real shells.

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

bool is_installed(const std::string& program) {
    return run_command({.argv = {"sh", "-c", "command -v " + program},
                        .environment = {{"PATH", system_path}}})
               .status == 0;
}

Outcome shell(std::vector<std::string> argv, const std::string& home, std::string_view input = {}) {
    return run_command({.argv = std::move(argv),
                        .environment = {{"PATH", fs::path(knell_binary()).parent_path().string() +
                                                     ":" + system_path},
                                        {"KNELL_HOME", home},
                                        {"HOME", home},
                                        {"LC_ALL", "C.UTF-8"},
                                        {"MANPAGER", "cat"}},
                        .cwd = home},
                       input);
}

// --- manual pages
// ---------------------------------------------------------------------------------

class ManualPage : public testing::TestWithParam<const char*> {
  protected:
    /// Written to a file, as an installation does.
    std::string page() {
        const auto outcome = home.knell({"__man", GetParam()});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        const auto path = home.file(GetParam());
        write_file(path, outcome.out);
        return path;
    }
    TempHome home;
};

TEST_P(ManualPage, IsTakenByManWithoutAWarning) {
    if (!is_installed("man")) GTEST_SKIP() << "man is not installed (Debian: man-db)";
    const auto outcome =
        shell({"man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page()}, home.path());
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.err, "");
}

TEST_P(ManualPage, IsTakenByMandocWithoutAWarning) {
    if (!is_installed("mandoc")) GTEST_SKIP() << "mandoc is not installed (Debian: mandoc)";
    const auto outcome = shell({"mandoc", "-Tlint", "-Wwarning", page()}, home.path());
    EXPECT_EQ(outcome.out + outcome.err, "");
}

INSTANTIATE_TEST_SUITE_P(Install, ManualPage,
                         testing::Values("knell.1", "knell.yaml.5", "knell-hooks.7"),
                         [](const auto& entry) {
                             std::string name = entry.param;
                             std::ranges::replace_if(
                                 name, [](char c) { return c == '.' || c == '-'; }, '_');
                             return name;
                         });

// --- completions
// ----------------------------------------------------------------------------------

/// Each shell is given the script as it is installed and a line that was typed so far.
class Completion : public WithDaemon {
  protected:
    void SetUp() override {
        create(R"({"id":"build:41","source":"cli","title":"nightly","owner":{"lease_ttl_s":600}})");
        create(R"({"id":"build:42","source":"cli","title":"docs","owner":{"lease_ttl_s":600}})");
    }
    static std::string script(const std::string& name) {
        return fmt::format("{}/completions/{}", KNELL_PACKAGING_DIR, name);
    }
    std::string in_bash(const std::string& line) {
        return shell({"bash", "--norc", "-c",
                      R"(source "$1"; COMP_LINE=$2; COMP_POINT=${#2}; _knell; )"
                      R"(printf '%s\n' "${COMPREPLY[@]}")",
                      "bash", script("knell.bash"), line},
                     home.path())
            .out;
    }
    /// With the words as zsh has them, and a `_describe` that prints what it is given.
    std::string in_zsh(const std::string& line) {
        return shell({"zsh", "-f", "-c",
                      R"(compdef() { : }; _files() { print FILES }; _normal() { print COMMAND };
                         _describe() { print -l -- "${(@P)argv[-1]}" };
                         source "$1"; words=(${(z)2}); [[ $2 == *' ' ]] && words+=('');
                         CURRENT=$#words; _knell)",
                      "zsh", script("_knell"), line},
                     home.path())
            .out;
    }
    std::string in_fish(const std::string& line) {
        return shell({"fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]",
                      script("knell.fish"), line},
                     home.path())
            .out;
    }
};

TEST_F(Completion, InBash) {
    if (!is_installed("bash")) GTEST_SKIP() << "bash is not installed (Debian: bash)";
    EXPECT_THAT(in_bash("knell st"), AllOf(HasSubstr("status\n"), HasSubstr("stop\n")));
    EXPECT_EQ(in_bash("knell ls --stat"), "--status\n");
    EXPECT_EQ(in_bash("knell ls --status st"), "stalled\n");
    EXPECT_EQ(in_bash("knell show build:4"), "41\n42\n");  // bash counts from the colon on
    EXPECT_EQ(in_bash("knell config show events.keep_d"), "events.keep_days\n");
    EXPECT_EQ(in_bash("knell help wh"), "why\n");
    EXPECT_EQ(in_bash("knell run -- ma"), "\n");
}

TEST_F(Completion, InZsh) {
    if (!is_installed("zsh")) GTEST_SKIP() << "zsh is not installed (Debian: zsh)";
    EXPECT_THAT(in_zsh("knell st"), AllOf(HasSubstr("status:Show how"), HasSubstr("stop:")));
    EXPECT_THAT(in_zsh("knell show build"), HasSubstr(R"(build\:41:)"));
    EXPECT_EQ(in_zsh("knell run -- ma"), "COMMAND\n");
    EXPECT_EQ(in_zsh("knell adopt "), "FILES\n");
}

TEST_F(Completion, InFish) {
    if (!is_installed("fish")) GTEST_SKIP() << "fish is not installed (Debian: fish)";
    EXPECT_THAT(in_fish("knell st"), AllOf(HasSubstr("status\tShow how"), HasSubstr("stop\t")));
    EXPECT_THAT(in_fish("knell show build"), HasSubstr("build:42\t"));
    EXPECT_THAT(in_fish("knell hooks p"), HasSubstr("pause"));
    EXPECT_THAT(in_fish("knell run --title t -- ech"), HasSubstr("echo"));
}

TEST_F(Completion, WithoutADaemonNothingIsStarted) {
    daemon.terminate();

    EXPECT_EQ(in_bash("knell show b"), "\n");

    EXPECT_EQ(home.knell({"status"}).status, 1);
}

// --- files
// ----------------------------------------------------------------------------------------

TEST(Installation, PutsEverythingInPlaceBelowItsPrefix) {
    if (!is_installed("cmake")) GTEST_SKIP() << "cmake is not installed (Debian: cmake)";
    const TempHome home;
    const auto prefix = home.file("prefix");
    const auto build = fs::path(knell_binary()).parent_path().string();

    const auto outcome = shell(
        {"cmake", "--install", build, "--prefix", prefix, "--component", "knell"}, home.path());

    ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    for (const auto* file :
         {"bin/knell", "share/man/man1/knell.1", "share/man/man5/knell.yaml.5",
          "share/man/man7/knell-hooks.7", "share/bash-completion/completions/knell",
          "share/zsh/site-functions/_knell", "share/fish/vendor_completions.d/knell.fish",
          "share/systemd/user/knell.socket", "share/systemd/user/knell.service"}) {
        EXPECT_TRUE(fs::is_regular_file(prefix + "/" + file)) << file;
    }
    EXPECT_THAT(read_file(prefix + "/share/systemd/user/knell.service"),
                HasSubstr(fmt::format("ExecStart={}/bin/knell up\n", prefix)));
    EXPECT_EQ(shell({prefix + "/bin/knell", "--version"}, home.path()).status, 0);
}

}  // namespace
}  // namespace knell::functional
