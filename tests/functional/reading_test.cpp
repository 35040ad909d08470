// What people read of sessions and of the daemon: show, why, status, logs and events on a terminal.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poll.h>

#include "functional/harness/fixture.hpp"
#include "functional/harness/pty.hpp"
#include "functional/harness/waiting.hpp"

namespace knell::functional {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Reading : public WithDaemon {
  protected:
    /// What a command shows on a terminal until it ends.
    std::string on_screen(std::vector<std::string> arguments, const Environment& more = {}) {
        Pty pty;
        pty.resize(24, 80);
        auto spawn = home.command(std::move(arguments));
        for (const auto& [name, value] : more) spawn.environment[name] = value;
        spawn.in = spawn.out = spawn.err = pty.slave.get();
        Process process(spawn);
        pty.slave.reset();
        while (read_available(pty.master.get(), pty.shown)) {
            wait_for(pty.master.get(), POLLIN, "the end of the output");
        }
        process.wait();
        return pty.shown;
    }
};

TEST_F(Reading, ShowAndWhyBeginWithASentence) {
    auto spawn = home.command({"run", "--id", "s", "--", "sh", "-c", "kill -9 $$"});
    spawn.cwd = "/usr";
    run_command(spawn);

    for (const char* verb : {"show", "why"}) {
        EXPECT_THAT(home.knell({verb, "s"}).out,
                    ContainsRegex("^sh -c kill -9 \\$\\$ in /usr died of SIGKILL [0-9]+ s after it "
                                  "started\\.\n"))
            << verb;
    }
}

TEST_F(Reading, TimesAreLocalUnlessUtcIsAskedFor) {
    create(R"({"id":"s","source":"cli"})");
    const auto shown = [&](std::vector<std::string> arguments) {
        auto spawn = home.command(std::move(arguments));
        spawn.environment["TZ"] = "XYZ-5:30";
        return run_command(spawn).out;
    };

    EXPECT_THAT(shown({"show", "s"}), ContainsRegex("started +20[0-9: -]+ XYZ \\("));
    EXPECT_THAT(shown({"show", "s", "--utc"}), ContainsRegex("started +20[0-9: -]+ UTC \\("));
    EXPECT_THAT(shown({"why", "s"}), ContainsRegex("20[0-9: .-]+ XYZ +1 +session:start"));
    EXPECT_THAT(shown({"why", "s", "--utc"}), ContainsRegex("20[0-9: .-]+ UTC +1 +session:start"));
}

TEST_F(Reading, StatusSaysFirstWhetherAllIsWell) {
    const auto well = home.knell({"status"});
    EXPECT_EQ(well.status, 0);
    EXPECT_THAT(well.out, StartsWith("healthy: 0 sessions open, nothing is wrong\n\n"));

    write_file(home.file("config.yaml"), "nonsense: [");
    daemon.wait_for_log("config.yaml");
    const auto ill = home.knell({"status"});
    EXPECT_THAT(ill.out, AllOf(StartsWith("not healthy: 1 thing has to be mended\n- "),
                               HasSubstr("config.yaml cannot be used")));
    EXPECT_EQ(home.knell({"status", "--json"}).status, 0) << "a daemon answers";
}

TEST_F(Reading, LogsAreTheDaemonsOwnWithoutAProcess) {
    EXPECT_THAT(home.knell({"logs"}).err, HasSubstr("there is no log at"));
    daemon.terminate();
    ASSERT_EQ(home.knell({"up", "--detach"}).status, 0);

    EXPECT_THAT(home.knell({"logs"}).out, HasSubstr("listens at"));
    EXPECT_THAT(home.knell({"logs", "-n", "1"}).out, Not(HasSubstr("\n.")));
    EXPECT_EQ(home.knell({"logs", "-n", "1", "p-0123456789abc"}).status, 2);
}

TEST_F(Reading, EventsOfATimeAreFoundInTheLog) {
    create(R"({"id":"a","source":"cli"})");
    client.must("session.close", R"({"session_id":"a"})");

    EXPECT_THAT(home.knell({"events", "--since", "1h"}).out,
                AllOf(HasSubstr("gateway:startup"), HasSubstr("session:end")));
    EXPECT_EQ(home.knell({"events", "--since", "1h", "--after", "1"}).status, 2);
    EXPECT_EQ(home.knell({"events", "--since", "x"}).status, 2);
}

TEST_F(Reading, AListOfEventsGoesThroughThePagerAndAListOfSessionsDoesNot) {
    create(R"({"id":"a","source":"cli","title":"t"})");
    const Environment pager{{"PAGER", "sed 's/^/> /'"}, {"TERM", "xterm"}, {"NO_COLOR", "1"}};

    EXPECT_THAT(on_screen({"events"}, pager), HasSubstr("> "));
    EXPECT_THAT(on_screen({"show", "a"}, pager), HasSubstr("> id"));
    EXPECT_THAT(on_screen({"ls"}, pager), Not(HasSubstr("> ")));
    EXPECT_THAT(on_screen({"show", "a"}, {{"PAGER", "cat"}, {"TERM", "xterm"}, {"NO_COLOR", "1"}}),
                Not(HasSubstr("> id")));
    EXPECT_THAT(
        on_screen({"show", "a"},
                  {{"PAGER", "there-is-no-such-pager"}, {"TERM", "xterm"}, {"NO_COLOR", "1"}}),
        HasSubstr("is alive and idle"));
    EXPECT_THAT(home.knell({"events"}).out, Not(HasSubstr("> "))) << "into a pipe";
}

TEST_F(Reading, OnAScreenEventsNameSessionsShortly) {
    const auto id = create(R"({"source":"cli","title":"t"})");
    const auto shown = on_screen({"events"}, {{"PAGER", "cat"}, {"TERM", "dumb"}});

    EXPECT_THAT(shown, AllOf(HasSubstr(id.substr(0, 8)), Not(HasSubstr(id)), HasSubstr("t: cli")));
    EXPECT_THAT(home.knell({"events"}).out, HasSubstr(id)) << "into a pipe";
}

}  // namespace
}  // namespace knell::functional
