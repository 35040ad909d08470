// The other verbs: what they print for people and for programs, and how they exit.

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Cli : public WithDaemon {
  protected:
    Json json(const std::vector<std::string>& arguments) {
        const auto outcome = home.knell(arguments);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.err, "");
        return parse(outcome.out);
    }
};

TEST(CliDaemon, UpDetachedReturnsWhenItAnswers) {
    const TempHome home;

    const auto up = home.knell({"up", "--detach"});

    EXPECT_EQ(up.status, 0) << up.err;
    EXPECT_THAT(up.out, StartsWith("started: pid "));
    const auto pid = number(Client(home.socket()).must("node.status"), "pid");
    EXPECT_THAT(up.out, HasSubstr(fmt::format("pid {}", pid)));

    const auto again = home.knell({"up", "--detach"});
    EXPECT_EQ(again.status, 0);
    EXPECT_THAT(again.out, HasSubstr(fmt::format("runs already: pid {}", pid)));
}

TEST(CliDaemon, DownWaitsUntilItIsGone) {
    const TempHome home;
    ASSERT_EQ(home.knell({"up", "--detach"}).status, 0);
    const auto pid = number(Client(home.socket()).must("node.status"), "pid");

    const auto down = home.knell({"down"});

    EXPECT_EQ(down.status, 0) << down.err;
    EXPECT_EQ(down.out, fmt::format("stopped: pid {}\n", pid));
    EXPECT_NE(access(home.socket().c_str(), F_OK), 0);
    const auto again = home.knell({"down"});
    EXPECT_EQ(again.status, 0);
    EXPECT_THAT(again.out, StartsWith("no daemon runs"));
}

TEST(CliDaemon, SessionsSurviveDownAndUp) {
    const TempHome home;
    ASSERT_EQ(home.knell({"up", "--detach"}).status, 0);
    Client(home.socket()).must("session.create", R"({"id":"s","source":"cli"})");

    ASSERT_EQ(home.knell({"down"}).status, 0);
    ASSERT_EQ(home.knell({"up", "--detach"}).status, 0);

    EXPECT_EQ(home.knell({"show", "s"}).status, 0);
}

TEST(CliDaemon, WithoutOneEveryVerbSaysWhatToDo) {
    const TempHome home;

    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"status"},
                                                      {"ls"},
                                                      {"show", "s"},
                                                      {"end", "s"},
                                                      {"events"},
                                                      {"rpc", "node.status"}}) {
        const auto outcome = home.knell(arguments);
        EXPECT_EQ(outcome.status, 1) << arguments[0];
        EXPECT_EQ(outcome.out, "") << arguments[0];
        EXPECT_THAT(outcome.err, HasSubstr("knell up --detach")) << arguments[0];
    }
}

TEST_F(Cli, Status) {
    create();

    EXPECT_EQ(number(json({"status", "--json"}), "sessions.open"), 1);
    const auto plain = home.knell({"status"});
    EXPECT_EQ(plain.status, 0);
    EXPECT_THAT(plain.out, HasSubstr("1 open: 1 idle, 0 unknown"));
    EXPECT_THAT(plain.out, HasSubstr(fmt::format("{}", daemon.pid())));
}

TEST_F(Cli, Ls) {
    create(R"({"id":"a","source":"cli","title":"first"})");
    create(R"({"id":"b","source":"cron"})");
    create(R"({"id":"c","source":"gateway","key":"k:1"})");
    client.must("session.close", R"({"session_id":"a"})");

    const auto ids = [&](std::vector<std::string> options) {
        options.insert(options.begin(), {"ls", "--json"});
        return ids_of(json(options));
    };
    EXPECT_THAT(ids({}), ElementsAre("c", "a"));
    EXPECT_THAT(ids({"--all"}), ElementsAre("c", "b", "a"));
    EXPECT_THAT(ids({"--ended"}), ElementsAre("a"));
    EXPECT_THAT(ids({"--open"}), ElementsAre("c"));
    EXPECT_THAT(ids({"--source", "cron"}), ElementsAre("b"));
    EXPECT_THAT(ids({"--key", "k:1"}), ElementsAre("c"));
    EXPECT_THAT(ids({"--status", "idle"}), ElementsAre("c"));
    EXPECT_THAT(ids({"--all", "--limit", "1", "--cursor", "3"}), ElementsAre("b"));
    const auto table = home.knell({"ls"});
    EXPECT_THAT(table.out, StartsWith("ID "));
    EXPECT_THAT(table.out, HasSubstr("completed"));
    EXPECT_THAT(table.out, Not(HasSubstr("\x1b"))) << "colours without a terminal";
}

TEST_F(Cli, LsSaysWhenThereIsMoreAndWhenThereIsNothing) {
    const auto none = home.knell({"ls"});
    EXPECT_EQ(none.status, 0);
    EXPECT_EQ(none.out, "");
    EXPECT_THAT(none.err, HasSubstr("knell run"));
    create();
    create();

    EXPECT_THAT(home.knell({"ls", "--limit", "1"}).err, HasSubstr("--cursor 2"));
}

TEST_F(Cli, Show) {
    create(R"({"id":"s","source":"cli","title":"t"})");
    client.must("session.append", R"({"session_id":"s","generation":1,"messages":[
        {"role":"user","content":"two\nlines \u001b[31m"}]})");

    EXPECT_EQ(json({"show", "s", "--json"}), show("s"));
    EXPECT_EQ(text(json({"show", "s", "--messages", "1", "--json"}), "messages.0.role"), "user");
    const auto plain = home.knell({"show", "s", "--messages", "5"});
    EXPECT_THAT(plain.out, HasSubstr("two\nlines"));
    EXPECT_THAT(plain.out, Not(HasSubstr("\x1b"))) << "a message may not steer the terminal";
    const auto absent = home.knell({"show", "nobody"});
    EXPECT_EQ(absent.status, 1);
    EXPECT_THAT(absent.err, HasSubstr("no session nobody"));
}

TEST_F(Cli, End) {
    create(R"({"id":"a","source":"cli"})");
    create(R"({"id":"b","source":"cli"})");

    const auto dry = home.knell({"end", "a", "--dry-run"});
    EXPECT_EQ(dry.status, 0);
    EXPECT_EQ(text(show("a"), "status"), "idle");

    const auto ended = home.knell(
        {"end", "a", "nobody", "b", "--reason", "manual_reset", "--detail", "new sprint", "--yes"});
    EXPECT_EQ(ended.status, 1) << "one of them does not exist";
    EXPECT_THAT(ended.err, HasSubstr("nobody"));
    EXPECT_EQ(text(show("a"), "reason"), "manual_reset");
    EXPECT_EQ(text(show("b"), "detail"), "new sprint");

    const auto again = json({"end", "a", "--json", "--yes"});
    EXPECT_EQ(at(again, "results.0.already_ended"), Json(true));
    EXPECT_EQ(home.knell({"end", "a", "--reason", "reaped"}).status, 2);
}

TEST_F(Cli, Events) {
    const auto startup = newest_seq(client);
    create(R"({"id":"a","source":"cli"})");
    create(R"({"id":"b","source":"cli"})");
    client.must("session.close", R"({"session_id":"a"})");

    const auto lines = [&](std::vector<std::string> options) {
        options.insert(options.begin(), {"events", "--json"});
        const auto out = home.knell(options).out;
        std::vector<std::int64_t> seqs;
        for (std::size_t start = 0; start < out.size(); start = out.find('\n', start) + 1) {
            seqs.push_back(number(parse(out.substr(start, out.find('\n', start) - start)), "seq"));
        }
        return seqs;
    };
    const auto a_start = startup + 1;
    const auto b_start = startup + 2;
    const auto a_end = startup + 3;
    EXPECT_THAT(lines({}), ElementsAre(startup, a_start, b_start, a_end));
    EXPECT_THAT(lines({"--limit", "2"}), ElementsAre(b_start, a_end));
    EXPECT_THAT(lines({"--after", fmt::to_string(a_start), "--limit", "1"}), ElementsAre(b_start));
    EXPECT_THAT(lines({"--type", "session:end"}), ElementsAre(a_end));
    EXPECT_THAT(lines({"--session", "a"}), ElementsAre(a_start, a_end));
    EXPECT_THAT(home.knell({"events"}).out, HasSubstr("session:end"));
}

TEST_F(Cli, EventsAfterANumberSayWhereToGoOn) {
    for (int i = 0; i < 3; ++i) create();
    const auto last = newest_seq(client);

    const auto some = home.knell({"events", "--after", "0", "--limit", "2", "--json"});
    EXPECT_EQ(std::ranges::count(some.out, '\n'), 2) << some.out;
    EXPECT_EQ(some.err, "there are more: repeat the command with --after 2\n");
    const auto table = home.knell({"events", "--after", "0", "--limit", "2"});
    EXPECT_THAT(table.err, HasSubstr("--after 2"));
    const auto all = home.knell({"events", "--after", "0", "--limit", fmt::to_string(last)});
    EXPECT_EQ(all.err, "");
    EXPECT_EQ(home.knell({"events", "--limit", "2"}).err, "")
        << "the newest have no more after them";
}

TEST_F(Cli, Rpc) {
    const auto created = json({"rpc", "session.create", R"({"id":"s","source":"cli"})"});
    EXPECT_EQ(text(created, "session_id"), "s");
    EXPECT_EQ(text(show("s"), "owner.kind"), "process");
    EXPECT_EQ(text(show("s"), "status"), "idle") << "it is not owned by the call";

    const auto piped = home.knell({"rpc", "session.show", "-"}, R"({"session_id":"s"})");
    EXPECT_EQ(text(parse(piped.out), "id"), "s");

    const auto refused = home.knell({"rpc", "session.show", R"({"session_id":"nobody"})"});
    EXPECT_EQ(refused.status, 1);
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(number(parse(refused.err), "code"), -32001);

    EXPECT_EQ(home.knell({"rpc", "session.show", "not json"}).status, 2);
    EXPECT_EQ(home.knell({"rpc", "session.show", "[]"}).status, 2);
    EXPECT_EQ(home.knell({"rpc"}).status, 2);
    EXPECT_THAT(home.knell({"rpc", "--list"}).out, HasSubstr("session.create"));
}

TEST_F(Cli, WrongUsageIsTwoAndPointsToHelp) {
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                      {"explode"},
                                                      {"--explode"},
                                                      {"ls", "--limit", "0"},
                                                      {"ls", "--limit", "many"},
                                                      {"ls", "--status", "asleep"},
                                                      {"ls", "--open", "--ended"},
                                                      {"show"},
                                                      {"end"},
                                                      {"events", "--type", "party"},
                                                      {"status", "extra"},
                                                      {"up", "--explode"}}) {
        const auto outcome = home.knell(arguments);
        EXPECT_EQ(outcome.status, 2) << testing::PrintToString(arguments);
        EXPECT_THAT(outcome.err, HasSubstr("--help")) << testing::PrintToString(arguments);
        EXPECT_EQ(outcome.out, "") << testing::PrintToString(arguments);
    }
}

TEST_F(Cli, HelpAndVersionNeedNoDaemon) {
    daemon.terminate();

    EXPECT_THAT(home.knell({"--version"}).out, StartsWith("knell "));
    for (const auto* verb : {"run", "ls", "show", "end", "events", "up", "down", "status", "rpc"}) {
        const auto help = home.knell({verb, "--help"});
        EXPECT_EQ(help.status, 0) << verb;
        EXPECT_THAT(help.out, HasSubstr("Example")) << verb;
        EXPECT_THAT(help.out, HasSubstr("Exit status")) << verb;
    }
}

}  // namespace
}  // namespace knell::functional
