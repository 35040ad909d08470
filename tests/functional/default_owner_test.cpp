// Whom `knell rpc session.create` gives the session to: the shell, script or job behind the call,
// never the subshell that ends with it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/owners.hpp"

namespace knell::functional {
namespace {

struct Form {
    const char* name;
    std::string script;
};

const std::string call = R"("$K" rpc session.create "{\"id\":\"$ID\",\"source\":\"cli\"}" )";

std::vector<Form> forms() {
    return {{"a plain call", call},
            {"a substitution", "x=$(" + call + ")"},
            {"a pipeline in a substitution", "x=$(" + call + "| cat)"},
            {"a subshell in a substitution", "x=$( (" + call + "; true) )"},
            {"a function in a substitution", "f() { " + call + "; true; }; x=$(f)"},
            {"a pipeline", call + "| cat"},
            {"a subshell at the head of a pipeline", "(" + call + "; true) | cat"},
            {"a subshell at the end of a pipeline", "true | (" + call + "; true)"}};
}

bool is_there(const std::string& program) {
    Spawn spawn;
    spawn.argv = {"sh", "-c", "command -v " + program};
    return run_command(spawn).status == 0;
}

class DefaultOwner : public WithOwners {
  protected:
    /// Runs it as the leader of a session of its own.  While it runs the session must be open.
    /// What it says of itself after "owner ", against what the record says.
    void expect_owner(std::vector<std::string> argv) {
        const auto id = fmt::format("s{}", ++sessions_);
        argv.insert(argv.begin(), "setsid");
        auto spawn = home.command({});
        spawn.argv = std::move(argv);
        spawn.environment["K"] = knell_binary();
        spawn.environment["ID"] = id;
        spawn.environment["SHOW"] = R"("$K" rpc session.show "{\"session_id\":\"$ID\"}" >shown)";
        spawn.cwd = home.path();
        const auto outcome = run_command(spawn);
        ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
        const auto place = outcome.out.find("owner ");
        ASSERT_NE(place, std::string::npos) << outcome.out << outcome.err;
        const auto shown = parse(read_file(home.file("shown")));
        EXPECT_EQ(number(shown, "owner.pid"), std::stol(outcome.out.substr(place + 6)));
        EXPECT_EQ(text(shown, "status"), "idle");
        ended(id);
    }
    void expect_all(const std::vector<std::string>& shell, const std::string& first = ":") {
        for (const auto& form : forms()) {
            SCOPED_TRACE(fmt::format("{}, {}, {}", shell.front(), first, form.name));
            const auto script = first + "\n" + form.script + "\neval \"$SHOW\"\necho owner $$\n";
            auto argv = shell;
            argv.insert(argv.end(), {"-c", script});
            expect_owner(argv);
            write_file(home.file("script"), script);
            argv = shell;
            argv.emplace_back("script");
            expect_owner(argv);
        }
    }

  private:
    int sessions_ = 0;
};

TEST_F(DefaultOwner, Bash) {
    if (!is_there("bash")) GTEST_SKIP() << "needs bash";
    expect_all({"bash"});
}

TEST_F(DefaultOwner, BashWithJobControl) {
    if (!is_there("bash")) GTEST_SKIP() << "needs bash";
    expect_all({"bash"}, "set -m");
}

TEST_F(DefaultOwner, Sh) {
    expect_all({"sh"});
}

TEST_F(DefaultOwner, Zsh) {
    if (!is_there("zsh")) GTEST_SKIP() << "needs zsh";
    expect_all({"zsh", "-f"});
    expect_all({"zsh", "-f"}, "setopt monitor");
}

TEST_F(DefaultOwner, AMakefile) {
    if (!is_there("make")) GTEST_SKIP() << "needs make";
    std::string recipe = call;
    for (std::size_t i = 0; (i = recipe.find('$', i)) != std::string::npos; i += 2) {
        recipe.insert(i, "$");
    }
    write_file(home.file("Makefile"),
               "all:\n\t@x=$$(" + recipe + "| cat); :\n\t@eval \"$$SHOW\"; echo owner $$PPID\n");

    expect_owner({"make", "-s"});
}

TEST_F(DefaultOwner, AMessageRoutedByAScript) {
    auto spawn = home.command({});
    spawn.argv = {
        "setsid", "sh", "-c",
        "route() { \"$K\" rpc session.route '{\"key\":\"chat:1\",\"source\":\"cron\"}'; }; "
        "route >first; route >second; \"$K\" rpc session.list '{\"key\":\"chat:1\"}' >list; "
        "echo $$"};
    spawn.environment["K"] = knell_binary();
    spawn.cwd = home.path();
    const auto outcome = run_command(spawn);
    ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    const auto first = parse(read_file(home.file("first")));
    const auto second = parse(read_file(home.file("second")));
    EXPECT_EQ(text(second, "session_id"), text(first, "session_id"));
    EXPECT_EQ(number(second, "generation"), 1);
    EXPECT_FALSE(second.as_object().contains("resumed"));
    EXPECT_EQ(number(parse(read_file(home.file("list"))), "sessions.0.owner.pid"),
              std::stol(outcome.out));
    ended(text(first, "session_id"));
}

TEST_F(DefaultOwner, AJobOfAShellRatherThanTheShell) {
    if (!is_there("bash")) GTEST_SKIP() << "needs bash";
    write_file(home.file("job"), "x=$(" + call + "| cat)\neval \"$SHOW\"\necho owner $$\n");

    expect_owner({"bash", "-c", "set -m; bash job; :"});
    // Without job control only the outer one leads anything.
    expect_owner({"bash", "-c", "bash job | sed s/owner/inner/; echo owner $$"});
}

}  // namespace
}  // namespace knell::functional
