#include "deliver/hook/directory.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/limits.hpp"
#include "testing/temp_folder.hpp"

namespace knell {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto session_hook = "events: [session:end]\n";

/// A hooks directory, and what is found in it.
class Hooks : public ::testing::Test {
  protected:
    /// With its HOOK.yaml.
    void make_hook(const std::string& name, const std::string& manifest) {
        fs::create_directories(root_ + "/" + name);
        write(name + "/HOOK.yaml", manifest, 0644);
    }
    void write(const std::string& name, const std::string& text, mode_t mode) {
        const auto path = root_ + "/" + name;
        std::ofstream(path) << text;
        ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    }
    /// A hook that is all right.
    void make_program_hook(const std::string& name) {
        make_hook(name, session_hook);
        write(name + "/run", "#!/bin/sh\n", 0755);
    }
    void let_anybody_write(const std::string& name) {
        ASSERT_EQ(::chmod((root_ + "/" + name).c_str(), 0777), 0);
    }

    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto& hook : read_hooks(root_).hooks) names.push_back(hook.name);
        return names;
    }
    /// Each as "file: message", the file as seen from the hooks directory.
    std::vector<std::string> complaints() const {
        std::vector<std::string> texts;
        for (const auto& problem : read_hooks(root_).problems) {
            auto text = to_text(problem.what);
            for (auto at = text.find(root_); at != std::string::npos; at = text.find(root_)) {
                text.replace(at, root_.size(), "hooks");
            }
            texts.push_back(std::move(text));
        }
        return texts;
    }
    /// The only hook there is.
    HookSpec hook() const {
        const auto found = read_hooks(root_);
        EXPECT_THAT(complaints(), IsEmpty());
        EXPECT_EQ(found.hooks.size(), 1U);
        return found.hooks.empty() ? HookSpec{} : found.hooks.front();
    }

    const testing::TempFolder temp_;
    const std::string root_ = temp_.path();
};

TEST_F(Hooks, WithoutADirectoryThereAreNone) {
    const auto found = read_hooks(root_ + "/missing");

    EXPECT_THAT(found.hooks, IsEmpty());
    EXPECT_THAT(found.problems, IsEmpty());
}

TEST_F(Hooks, ADirectoryWithoutAManifestIsReportedUnlessItsNameSaysThatItIsNone) {
    fs::create_directories(root_ + "/forgotten");
    fs::create_directories(root_ + "/_away");
    fs::create_directories(root_ + "/.git");

    EXPECT_THAT(complaints(),
                ElementsAre("hooks/forgotten: there is no HOOK.yaml in it, so it is no hook; write "
                            "one (`knell hooks new NAME` makes one to start from), or put a `_` "
                            "before its name"));
}

TEST_F(Hooks, WordsForAShellAreRemarkedOn) {
    make_hook("pipe", "events: [session:end]\ncommand: ./run | tee log\n");
    write("pipe/run", "#!/bin/sh\n", 0755);

    EXPECT_THAT(hook().remarks,
                ElementsAre("the command has | in it, which ./run is given as a word: no shell "
                            "looks at it; put the line into a script, or write: command: [sh, -c, "
                            "'...']"));
}

TEST_F(Hooks, HowOftenAnEventIsTriedAgainIsRead) {
    make_program_hook("patient");
    EXPECT_EQ(hook().retries, std::nullopt);

    make_hook("patient", "events: [session:end]\nretries: 0\n");
    EXPECT_EQ(hook().retries, 0);
}

TEST_F(Hooks, OfHermesRunTheirHandler) {
    make_hook("logger",
              "name: session-logger\ndescription: logs\n"
              "events: [session:start, agent:step, command:*]\n");
    write("logger/handler.py", "def handle(event_type, context): pass\n", 0644);
    write("logger/install.sh", "", 0755);

    const auto spec = hook();

    EXPECT_EQ(spec.name, "session-logger");
    EXPECT_EQ(spec.description, "logs");
    EXPECT_EQ(spec.directory, root_ + "/logger");
    EXPECT_TRUE(spec.is_python_handler);
    EXPECT_THAT(spec.argv, ElementsAre(root_ + "/logger/handler.py"));
    EXPECT_TRUE(spec.events.wants(EventType::session_start));
    EXPECT_FALSE(spec.events.wants(EventType::session_end));
    EXPECT_THAT(spec.remarks,
                ElementsAre("knell never sends agent:step", "knell never sends command:*"));
    EXPECT_EQ(spec.timeout, limits::hook_timeout_default);
    EXPECT_EQ(spec.concurrency, 1U);
}

TEST_F(Hooks, RunTheirOneProgram) {
    make_hook("notify", session_hook);
    write("notify/notify.sh", "#!/bin/sh\n", 0755);
    write("notify/notes.txt", "", 0644);
    write("notify/.hidden", "", 0755);

    const auto spec = hook();

    EXPECT_EQ(spec.name, "notify");
    EXPECT_FALSE(spec.is_python_handler);
    EXPECT_THAT(spec.argv, ElementsAre(root_ + "/notify/notify.sh"));
}

TEST_F(Hooks, RunTheirCommandFromTheDirectoryOrThePath) {
    make_hook("a-here", "events: [notice]\ncommand: run --fast\ntimeout: 5\nconcurrency: 3\n");
    write("a-here/run", "", 0755);
    make_hook("b-below", "events: [notice]\ncommand: [./bin/run]\n");
    fs::create_directories(root_ + "/b-below/bin");
    write("b-below/bin/run", "", 0755);
    make_hook("c-path", "events: [notice]\ncommand: sh -c true\n");
    make_hook("d-absolute", "events: [notice]\ncommand: /bin/sh\n");

    const auto found = read_hooks(root_);

    EXPECT_THAT(complaints(), IsEmpty());
    ASSERT_EQ(found.hooks.size(), 4U);
    EXPECT_THAT(found.hooks[0].argv, ElementsAre(root_ + "/a-here/run", "--fast"));
    EXPECT_EQ(found.hooks[0].timeout, std::chrono::seconds{5});
    EXPECT_EQ(found.hooks[0].concurrency, 3U);
    EXPECT_THAT(found.hooks[1].argv, ElementsAre(root_ + "/b-below/bin/run"));
    EXPECT_TRUE(found.hooks[2].argv.front().ends_with("/sh"));
    EXPECT_TRUE(found.hooks[2].argv.front().starts_with('/'));
    EXPECT_THAT(found.hooks[3].argv, ElementsAre("/bin/sh"));
}

TEST_F(Hooks, AProgramMustBeFound) {
    make_hook("a", "events: [notice]\ncommand: no-such-program-anywhere\n");
    make_hook("b", "events: [notice]\ncommand: ./gone\n");
    make_hook("c", "events: [notice]\ncommand: run\n");
    write("c/run", "", 0644);
    make_hook("d", session_hook);
    make_hook("e", session_hook);
    write("e/one", "", 0755);
    write("e/two", "", 0755);

    EXPECT_THAT(
        complaints(),
        ElementsAre(
            "hooks/a/HOOK.yaml:2:1: the program no-such-program-anywhere is neither in the "
            "hook's directory nor in the PATH; install it, or write where it is",
            "hooks/b/HOOK.yaml:2:1: there is no program hooks/b/gone; correct `command`",
            "hooks/c/HOOK.yaml:2:1: hooks/c/run is not executable; chmod +x it",
            "hooks/d/HOOK.yaml:1:1: nothing to run: there is no handler.py and no executable "
            "file; chmod +x the program, or set `command`",
            "hooks/e/HOOK.yaml:1:1: several programs (one, two); set `command` to the one to "
            "run"));
    EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Hooks, OnlyDirectoriesWithAManifestCount) {
    make_program_hook("real");
    make_program_hook(".hidden");
    make_program_hook("_off");
    write("HOOK.yaml", session_hook, 0644);

    EXPECT_THAT(names(), ElementsAre("real"));
    EXPECT_THAT(complaints(), IsEmpty());
}

TEST_F(Hooks, ABadOneLeavesTheOthersAlone) {
    make_program_hook("a");
    make_hook("b", "name: b\nevents: [\n");
    make_hook("c", "name: c\ntimeout: soon\n");
    make_program_hook("d");

    EXPECT_THAT(names(), ElementsAre("a", "d"));
    const auto found = read_hooks(root_).problems;
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].hook, "b");
    EXPECT_EQ(found[0].what.file, root_ + "/b/HOOK.yaml");
    EXPECT_GT(found[0].what.place.line, 0);
    EXPECT_EQ(found[1].hook, "c");
    EXPECT_EQ(found[2].hook, "c");
}

TEST_F(Hooks, ANameIsAWordAndTakenOnce) {
    make_program_hook("a");
    make_hook("b", "name: a\nevents: [notice]\n");
    write("b/run", "", 0755);
    make_program_hook("c d");

    EXPECT_THAT(names(), ElementsAre("a"));
    EXPECT_THAT(
        complaints(),
        ElementsAre("hooks/b/HOOK.yaml:1:1: name: the name a is taken by hooks/a; set `name` to "
                    "another",
                    "hooks/c d/HOOK.yaml:1:1: name: the directory's name, which the hook has "
                    "without a `name` of its own, may hold only letters, digits and "
                    "._-; choose another, or set `name`"));
}

TEST_F(Hooks, ANameThatIsNotTextIsNotRepeated) {
    make_program_hook("a\xff");
    make_program_hook("b\n");

    const auto* complaint = "hooks: the name of a directory in it is not text; rename that";
    EXPECT_THAT(complaints(), ElementsAre(complaint, complaint));
}

TEST_F(Hooks, WhatAnybodyCouldChangeIsNotRun) {
    for (const auto* name : {"a", "b", "c", "e"}) make_program_hook(name);
    let_anybody_write("a");
    let_anybody_write("b/HOOK.yaml");
    let_anybody_write("c/run");
    make_hook("d", "events: [notice]\ncommand: sh script\n");
    write("d/script", "", 0644);
    let_anybody_write("d/script");

    EXPECT_THAT(names(), ElementsAre("e"));
    EXPECT_THAT(
        complaints(),
        ElementsAre("hooks/a: anybody could change it: chmod o-w hooks/a",
                    "hooks/b/HOOK.yaml: anybody could change it: chmod o-w hooks/b/HOOK.yaml",
                    "hooks/c/run: anybody could change it: chmod o-w hooks/c/run",
                    "hooks/d/script: anybody could change it: chmod o-w hooks/d/script"));
}

TEST_F(Hooks, WhatAGroupOfOthersCouldChangeIsNotRun) {
    for (const auto* name : {"a", "b", "c"}) make_program_hook(name);
    for (const auto* file : {"/a", "/b/HOOK.yaml", "/c/run"}) {
        const auto path = root_ + file;
        if (::chown(path.c_str(), static_cast<uid_t>(-1), 54'321) != 0)
            GTEST_SKIP() << "only root can give files to any group";
        ASSERT_EQ(::chmod(path.c_str(), 0775), 0);
    }

    EXPECT_THAT(names(), IsEmpty());
    EXPECT_THAT(
        complaints(),
        ElementsAre("hooks/a: group 54321 could change it: chmod g-w hooks/a",
                    "hooks/b/HOOK.yaml: group 54321 could change it: chmod g-w hooks/b/HOOK.yaml",
                    "hooks/c/run: group 54321 could change it: chmod g-w hooks/c/run"));
}

TEST_F(Hooks, AProgramInAFolderThatAnybodyCanWriteInIsNotRun) {
    fs::create_directories(root_ + "/.tools");
    write(".tools/run", "#!/bin/sh\n", 0755);
    make_hook("a", "events: [notice]\ncommand: " + root_ + "/.tools/run\n");
    EXPECT_THAT(names(), ElementsAre("a"));

    let_anybody_write(".tools");

    EXPECT_THAT(names(), IsEmpty());
    EXPECT_THAT(complaints(), ElementsAre("hooks/.tools/run: anybody could change hooks/.tools, "
                                          "which it is in: chmod o-w hooks/.tools"));
}

TEST_F(Hooks, WhereAnybodyCouldAddOneNoneIsRun) {
    make_program_hook("a");
    let_anybody_write("");

    EXPECT_THAT(names(), IsEmpty());
    EXPECT_THAT(complaints(), ElementsAre("hooks: anybody could change it: chmod o-w hooks"));
}

TEST_F(Hooks, APipeInPlaceOfTheManifestKeepsNobodyWaiting) {
    fs::create_directories(root_ + "/a");
    ASSERT_EQ(::mkfifo((root_ + "/a/HOOK.yaml").c_str(), 0600), 0);

    EXPECT_THAT(complaints(), ElementsAre("hooks/a/HOOK.yaml: is not a regular file"));
}

TEST_F(Hooks, AreBounded) {
    for (std::size_t i = 0; i <= limits::subscribers_max; ++i) {
        make_hook("h" + std::to_string(1000 + i), "events: [notice]\ncommand: /bin/sh\n");
    }

    const auto found = read_hooks(root_);

    EXPECT_EQ(found.hooks.size(), limits::subscribers_max);
    ASSERT_EQ(found.problems.size(), 1U);
    EXPECT_EQ(found.problems[0].hook, "h1500");
}

}  // namespace
}  // namespace knell
