// knell ls: what a person sees of their sessions, and what they can ask for.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "functional/harness/fixture.hpp"
#include "functional/harness/process.hpp"
#include "functional/harness/pty.hpp"
#include "functional/harness/waiting.hpp"

namespace knell::functional {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class LsCommand : public WithDaemon {
  protected:
    void open(std::string_view id, std::string_view cwd = "/srv", std::string_view source = "cli") {
        create(fmt::format(R"({{"id":"{}","source":"{}","title":"work on {}","cwd":"{}",)"
                           R"("owner":{{"lease_ttl_s":600}}}})",
                           id, source, id, cwd));
    }
    void end(std::string_view id) {
        client.must("session.close", fmt::format(R"({{"session_id":"{}"}})", id));
    }
    /// What `knell ls -q` prints.
    std::vector<std::string> listed(std::vector<std::string> options = {}) {
        options.insert(options.begin(), {"ls", "-q"});
        const auto outcome = home.knell(options);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        std::vector<std::string> ids;
        for (std::string_view rest = outcome.out; !rest.empty();) {
            ids.emplace_back(rest.substr(0, rest.find('\n')));
            rest.remove_prefix(ids.back().size() + 1);
        }
        return ids;
    }
};

TEST_F(LsCommand, WhatIsOpenComesFirstHoweverOldAndThenWhatEndedLast) {
    open("old-and-alive");
    for (const auto* id : {"a", "b", "c"}) open(id);
    for (const auto* id : {"c", "a"}) end(id);

    EXPECT_THAT(listed(), ElementsAre("b", "old-and-alive", "a", "c"));
    EXPECT_THAT(listed({"-n", "1"}), ElementsAre("b", "old-and-alive", "a"));
    EXPECT_THAT(listed({"-n", "0"}), ElementsAre("b", "old-and-alive"));
    EXPECT_THAT(listed({"--ended"}), ElementsAre("a", "c"));
    EXPECT_THAT(listed({"--open"}), ElementsAre("b", "old-and-alive"));
    EXPECT_THAT(listed({"--status", "ended"}), ElementsAre("a", "c"));
    EXPECT_THAT(listed({"--status", "idle"}), ElementsAre("b", "old-and-alive"));
}

TEST_F(LsCommand, ALiveSessionNeverLeavesTheListAndTheLastLineCountsTheRest) {
    open("alive");
    for (int i = 0; i < 60; ++i) {
        open(fmt::format("s{:02}", i));
        end(fmt::format("s{:02}", i));
    }
    open("job", "/srv", "cron");

    const auto shown = home.knell({"ls"});
    EXPECT_THAT(shown.out, HasSubstr("work on alive"));
    EXPECT_EQ(std::ranges::count(shown.out, '\n'), 1 + 1 + 10);
    EXPECT_EQ(shown.err, "50 more ended; 1 of sub-agents, of cron or empty. All: knell ls -a\n");
    EXPECT_EQ(ids_of(parse(home.knell({"ls", "--json"}).out)).front(), "alive");
    EXPECT_THAT(listed({"-a"}), SizeIs(62));
    EXPECT_EQ(home.knell({"ls", "-a"}).err, "");
}

TEST_F(LsCommand, IsOfADirectoryAndOfATime) {
    open("here", home.path());
    open("below", home.path() + "/below");
    open("elsewhere", "/srv");
    open("gone", home.path());
    end("gone");
    auto spawn = home.command({"ls", "-q", "--dir", "."});
    spawn.cwd = home.path();

    EXPECT_EQ(run_command(spawn).out, "below\nhere\ngone\n");
    EXPECT_THAT(listed({"--since", "1h"}), ElementsAre("elsewhere", "below", "here", "gone"));
    EXPECT_EQ(home.knell({"ls", "--since", "soon"}).status, 2);
    EXPECT_EQ(home.knell({"ls", "--since", "1h", "--limit", "3"}).status, 2);
    EXPECT_THAT(home.knell({"ls", "--watch"}).err, HasSubstr("needs a terminal"));
}

TEST_F(LsCommand, SaysWhyItIsEmpty) {
    EXPECT_THAT(home.knell({"ls"}).err, HasSubstr("knell run -- COMMAND"));
    open("job", "/srv", "cron");
    EXPECT_THAT(home.knell({"ls"}).err, HasSubstr("1 of sub-agents, of cron or empty"));
    EXPECT_THAT(home.knell({"ls", "--ended"}).err, HasSubstr("no sessions match"));
}

TEST_F(LsCommand, WatchedIsShownAnewWhenSomethingHappens) {
    open("first");
    Pty pty;
    pty.resize(24, 80);
    auto spawn = home.command({"ls", "--watch"});
    spawn.in = spawn.out = spawn.err = pty.slave.get();
    Process process(spawn);
    pty.wait_until_shown("work on first");
    open("second");
    pty.wait_until_shown("work on second");
    daemon.restart();
    Client(home.socket())
        .must("session.create", R"({"id":"third","source":"cli","title":"work on third"})");
    pty.wait_until_shown("work on third");
    process.signal(SIGINT);

    EXPECT_EQ(process.wait(), 0);
}

}  // namespace
}  // namespace knell::functional
