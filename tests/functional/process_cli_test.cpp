// knell ps, logs, stop, start and vouch against a daemon that answers as it is told: what they ask
// for, what they print and how they exit.  With a real daemon they are in background_test.

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "functional/harness/on_terminal.hpp"
#include "functional/harness/process.hpp"
#include "functional/harness/pty.hpp"
#include "functional/harness/temp_home.hpp"
#include "functional/harness/waiting.hpp"
#include "testing/fake_daemon.hpp"

namespace knell::functional {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto server_row =
    R"({"process_id":"p-0000000000001","session_id":"s","session":"ended","pid":42,)"
    R"("command":"python3 -m http.server","started_at":"2026-05-18T10:00:00.000Z",)"
    R"("state":"running","activity":"listening","evidence":"no CPU for 2 h","counts":false})";
constexpr auto gone_row =
    R"({"process_id":"p-0000000000001","session_id":"s","session":"open","pid":42,)"
    R"("command":"make","started_at":"2026-05-18T10:00:00.000Z","state":"exited",)"
    R"("activity":"exited","exit":{"kind":"signaled","signal":15}})";

/// The row with these fields too.
std::string with(std::string_view row, std::string_view more) {
    return fmt::format("{},{}}}", row.substr(0, row.size() - 1), more);
}

class ProcessVerbs : public ::testing::Test {
  protected:
    /// Answers a call with `result` when it holds `method` (or anything else of the line), the
    /// first row that fits; what nobody expects is refused.
    struct Row {
        std::string holds;
        std::string answer;
    };
    void serve(std::vector<Row> rows) {
        daemon_.emplace(
            paths_,
            knell::testing::FakeDaemon::Manners{
                .home = home.path(), .answer = [rows = std::move(rows)](const std::string& call) {
                    for (const auto& row : rows) {
                        if (call.contains(row.holds)) return row.answer;
                    }
                    if (call.contains("session.find")) return found(call);
                    return fmt::format(R"("error":{{"code":-32601,"message":"asked {}"}})",
                                       call.size());
                }});
    }
    /// Every session that is named is there, and called so.
    static std::string found(std::string_view call) {
        constexpr std::string_view before = R"("prefix":")";
        const auto from = call.find(before) + before.size();
        return result(fmt::format(R"({{"sessions":[{{"id":"{}"}}]}})",
                                  call.substr(from, call.find('"', from) - from)));
    }
    static std::string result(std::string_view json) { return fmt::format(R"("result":{})", json); }

    /// Runs it on a terminal; "" types nothing.
    int on_terminal(std::vector<std::string> arguments, std::string_view typed = {}) {
        return functional::on_terminal(home, std::move(arguments), typed, shown);
    }

    TempHome home;
    std::string shown;

  private:
    const Paths paths_ = knell::testing::paths_in(home.path());
    std::optional<knell::testing::FakeDaemon> daemon_;
};

TEST_F(ProcessVerbs, PsListsAndSaysWhenThereIsNothing) {
    serve({{"process.list", result(R"({"processes":[]})")}});
    auto outcome = home.knell({"ps"});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("no background processes"));
    EXPECT_THAT(home.knell({"ps", "--json"}).out, HasSubstr(R"("processes": [])"));
}

TEST_F(ProcessVerbs, PsShowsATableOrATree) {
    serve({{R"("session_id":"s","all":true)",
            result(fmt::format(R"({{"processes":[{},{}]}})", server_row, gone_row))},
           {"process.list", result(fmt::format(R"({{"processes":[{}]}})", server_row))}});
    EXPECT_THAT(home.knell({"ps"}).out,
                AllOf(HasSubstr("s (ended)"), HasSubstr("listening"), HasSubstr("no CPU for 2 h")));
    EXPECT_THAT(home.knell({"ps", "--tree"}).out,
                HasSubstr("s  1 process; its session has ended\n  p-0000000000001"));
    EXPECT_THAT(home.knell({"ps", "--session", "s", "--all"}).out,
                HasSubstr("signal 15 (SIGTERM)"));
    EXPECT_EQ(home.knell({"ps", "--tree", "--json"}).status, 2);
}

TEST_F(ProcessVerbs, WithoutADaemonSayWhatToDo) {
    for (const auto& verb :
         std::vector<std::vector<std::string>>{{"ps"},
                                               {"logs", "p"},
                                               {"stop", "p"},
                                               {"vouch", "p", "2h"},
                                               {"start", "--session", "s", "--", "true"}}) {
        const auto outcome = home.knell(verb);
        EXPECT_EQ(outcome.status, 1) << verb.front();
        EXPECT_THAT(outcome.err, HasSubstr("knell " + verb.front() + ": ")) << verb.front();
    }
}

TEST_F(ProcessVerbs, LogsWritesBytesAsTheyAreIntoAPipe) {
    // "\x1b[2Ja\n\0\xff", in two pages with a gap before them
    serve({{R"("after":7)",
            result(R"({"output":"AP8=","after":7,"next":9,"state":"exited","more":false})")},
           {"process.output",
            result(R"({"output":"G1sySmEK","after":3,"next":7,"gap":{"from":0,"to":2},)"
                   R"("state":"exited","more":true})")}});
    const auto outcome = home.knell({"logs", "p-0000000000001"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, std::string("\x1b[2Ja\n\0\xff", 8));
    EXPECT_THAT(outcome.err, HasSubstr("bytes 0 to 2 are no longer kept"));
}

TEST_F(ProcessVerbs, LogsShowsATerminalNothingThatItWouldObey) {
    serve({{"process.output",
            result(R"({"output":"G1sySmEK","after":0,"next":6,"state":"exited","more":false})")}});
    EXPECT_EQ(on_terminal({"logs", "p-0000000000001"}), 0);
    EXPECT_THAT(shown, AllOf(HasSubstr("^[[2Ja"), Not(HasSubstr("\x1b"))));
}

TEST_F(ProcessVerbs, LogsFollowsUntilTheProcessHasExited) {
    // Said in the order of the offsets: nothing yet is asked for twice.
    serve({{R"("after":6)",
            result(R"({"output":"Ygo=","after":6,"next":8,"state":"running","more":false})")},
           {R"("after":8)",
            result(R"({"output":"","after":8,"next":8,"state":"exited","more":false})")},
           {"process.output",
            result(R"({"output":"aGVsbG8K","after":0,"next":6,"state":"running","more":true})")}});
    const auto outcome = home.knell({"logs", "-f", "p-0000000000001"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "hello\nb\n");
}

TEST_F(ProcessVerbs, LogsGoesOnWithTheNextDaemonWhereItWas) {
    serve({{R"("after":4)",
            result(R"({"output":"","after":4,"next":4,"state":"running","more":false})")},
           {"process.output",
            result(R"({"output":"b25lCg==","after":0,"next":4,"state":"running","more":false})")}});
    Pipe out;
    auto spawn = home.command({"logs", "-f", "p-0000000000001"});
    spawn.out = out.writing.get();
    Process logs(spawn);
    out.writing.reset();
    ::fcntl(out.reading.get(), F_SETFL, O_NONBLOCK);
    std::string said;
    while (!said.contains("one\n")) {
        wait_for(out.reading.get(), POLLIN, "the first line");
        ASSERT_TRUE(read_available(out.reading.get(), said));
    }
    // Killed, and the next one knows more.
    ::unlink(home.socket().c_str());
    serve({{R"("after":4)",
            result(R"({"output":"dHdvCg==","after":4,"next":8,"state":"exited","more":false})")}});
    while (read_available(out.reading.get(), said)) {
        wait_for(out.reading.get(), POLLIN, "the end");
    }
    EXPECT_EQ(said, "one\ntwo\n");
    EXPECT_EQ(logs.wait(), 0);
}

TEST_F(ProcessVerbs, LogsOfAnUnknownProcessFails) {
    serve({{"process.output", R"("error":{"code":-32001,"message":"there is no process p-x"})"}});
    const auto outcome = home.knell({"logs", "p-x"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("knell logs: there is no process p-x"));
    EXPECT_EQ(home.knell({"logs", "-f", "p-x"}).status, 1);
}

TEST_F(ProcessVerbs, StopWaitsAndSaysHowEachWent) {
    serve({{"events.subscribe", result(R"({"after":1})")},
           {R"(process.stop","params":{"process_id":"p-0000000000001")",
            result(with(server_row, R"("stopping":true)"))},
           {"process.stop", R"("error":{"code":-32001,"message":"there is no process p-x"})"},
           {"process.show", result(gone_row)}});
    auto outcome = home.knell({"stop", "p-0000000000001"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "p-0000000000001 stopped: signal 15 (SIGTERM)\n");

    outcome = home.knell({"stop", "p-x", "p-0000000000001"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.out, "p-0000000000001 stopped: signal 15 (SIGTERM)\n");
    EXPECT_THAT(outcome.err, HasSubstr("there is no process p-x"));

    outcome = home.knell({"stop", "--json", "p-x", "p-0000000000001"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("not_found"), HasSubstr("exited")));
}

TEST_F(ProcessVerbs, StopSaysWhatWasLeftAndWhy) {
    const auto left =
        R"("stopping":false,"stop_failed":"process 43 (agent): it owns an open session")";
    serve({{"events.subscribe", result(R"({"after":1})")},
           {"process.stop", result(with(server_row, R"("stopping":true)"))},
           {R"(process.show","params":{"process_id":"p-runs")", result(with(server_row, left))},
           {"process.show", result(with(gone_row, left))}});
    auto outcome = home.knell({"stop", "p-runs"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err,
              "knell stop: p-runs (pid 42) was not stopped: process 43 (agent): it owns an open "
              "session\n");
    outcome = home.knell({"stop", "p-gone"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.err,
              "knell stop: p-gone (pid 42) is gone, but not all that it started: process 43 "
              "(agent): it owns an open session\n");
    outcome = home.knell({"stop", "--no-wait", "p-runs"});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.out, "p-runs is being stopped\n");
}

TEST_F(ProcessVerbs, StopOfASessionStopsWhatRuns) {
    serve(
        {{R"("session_id":"empty")", result(R"({"processes":[]})")},
         {"process.list", result(fmt::format(R"({{"processes":[{},{}]}})", server_row, gone_row))},
         {"events.subscribe", result(R"({"after":1})")},
         {"process.stop", result(with(server_row, R"("stopping":true)"))},
         {"process.show", result(gone_row)}});
    const auto outcome = home.knell({"stop", "--session", "s"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "p-0000000000001 stopped: signal 15 (SIGTERM)\n");
    EXPECT_EQ(home.knell({"stop", "--session", "empty"}).status, 0);
    EXPECT_EQ(home.knell({"stop"}).status, 2);
    EXPECT_EQ(home.knell({"stop", "--session", "s", "p-1"}).status, 2);
}

TEST_F(ProcessVerbs, StopAsksBeforeItStopsSeveral) {
    serve({{R"(process.show","params":{"process_id":"p-a")", result(server_row)},
           {R"(process.show","params":{"process_id":"p-b")", result(server_row)},
           {"events.subscribe", result(R"({"after":1})")},
           {"process.stop", result(with(gone_row, R"("already_exited":true)"))}});
    EXPECT_EQ(on_terminal({"stop", "p-a", "p-b"}, "n\n"), 1);
    EXPECT_THAT(shown, AllOf(HasSubstr("p-0000000000001"), HasSubstr("nothing was stopped")));
    EXPECT_EQ(on_terminal({"stop", "p-a", "p-b"}, "y\n"), 0);
    EXPECT_THAT(shown, HasSubstr("p-b had exited already"));
    // One alone is what was typed.
    EXPECT_EQ(on_terminal({"stop", "p-a"}), 0);
    EXPECT_EQ(on_terminal({"stop", "--yes", "p-a", "p-b"}), 0);
}

TEST_F(ProcessVerbs, StartGivesTheIdAlone) {
    serve(
        {{fmt::format(
              R"("argv":["sh","-c","a -- b"],"title":"t","cwd":"{}/sub","env":{{"PATH":"{}","A":"b=c"}})",
              home.path(), system_path),
          result(server_row)}});
    auto spawn = home.command({"start", "--session", "s", "--title", "t", "--cwd", "sub", "--env",
                               "A=b=c", "--", "sh", "-c", "a -- b"});
    spawn.cwd = home.path();
    spawn.environment["PATH"] = system_path;
    const auto outcome = run_command(spawn);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "p-0000000000001\n");
}

TEST_F(ProcessVerbs, StartTakesTheSessionItRunsIn) {
    serve({{R"("session_id":"mine")", result(server_row)}});
    auto spawn = home.command({"start", "true"});
    spawn.environment["KNELL_SESSION_ID"] = "mine";
    EXPECT_EQ(run_command(spawn).status, 0);
    EXPECT_EQ(home.knell({"start", "--", "true"}).status, 2);
    EXPECT_EQ(home.knell({"start", "--session", "s"}).status, 2);
    EXPECT_EQ(home.knell({"start", "--session", "s", "--env", "=x", "--", "true"}).status, 2);
}

TEST_F(ProcessVerbs, VouchSaysUntilWhen) {
    serve({{R"("until":"2h")",
            result(R"({"process_id":"p-1","vouched_until":"2126-05-18T10:00:00.000Z"})")},
           {R"("until":"off")", result(R"({"process_id":"p-1"})")},
           {"process.vouch", R"("error":{"code":-32602,"message":"until: is neither"})"}});
    EXPECT_THAT(home.knell({"vouch", "p-1", "2h"}).out,
                HasSubstr("p-1 counts as work until 2126-05-18T10:00:00.000Z"));
    EXPECT_EQ(home.knell({"vouch", "p-1", "off"}).out, "p-1 is no longer vouched for\n");
    EXPECT_EQ(home.knell({"vouch", "p-1", "soon"}).status, 2);
    EXPECT_EQ(home.knell({"vouch", "p-1"}).status, 2);
}

}  // namespace
}  // namespace knell::functional
