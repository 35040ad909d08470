// knell run without a daemon: the command runs, one line warns, and the record comes later.

#include <algorithm>
#include <cstdio>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Spool : public testing::Test {
  protected:
    /// Runs a command while no daemon can start, because the store cannot be read.
    Outcome run_unseen(const std::vector<std::string>& command, const std::string& id = "s") {
        const auto store = home.file("knell.db");
        const bool had_one = std::rename(store.c_str(), home.file("kept").c_str()) == 0;
        write_file(store, "this is not a database\n");
        std::vector<std::string> arguments{"run", "--id", id, "--title", "unseen", "--"};
        arguments.insert(arguments.end(), command.begin(), command.end());
        auto outcome = home.knell(arguments);
        std::remove(store.c_str());
        if (had_one && std::rename(home.file("kept").c_str(), store.c_str()) != 0) {
            ADD_FAILURE() << "the store is lost";
        }
        return outcome;
    }
    std::vector<std::string> lines() const {
        std::vector<std::string> lines;
        std::istringstream text(read_file(spool()));
        for (std::string line; std::getline(text, line);) lines.push_back(line + "\n");
        return lines;
    }
    std::string spool() const { return home.file("spool/s.jsonl"); }
    std::vector<std::string> spooled() const { return names_in(home.file("spool")); }

    TempHome home;
};

TEST_F(Spool, TheCommandRunsAndOneLineWarns) {
    const auto outcome = run_unseen({"sh", "-c", "echo done; exit 5"});

    EXPECT_EQ(outcome.status, 5);
    EXPECT_EQ(outcome.out, "done\n");
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(spool()));
    EXPECT_THAT(spooled(), ElementsAre("s.jsonl"));
}

TEST_F(Spool, WhatTheCommandLeftRunningIsNamed) {
    const auto outcome =
        run_unseen({"sh", "-c", "sleep 600 >/dev/null 2>&1 </dev/null & echo $!; exit 3"});

    EXPECT_EQ(outcome.status, 3);
    const auto left = static_cast<pid_t>(std::stol(outcome.out));
    EXPECT_THAT(outcome.err, HasSubstr(fmt::format(
                                 "left running, not recorded: {} sleep 600 (no daemon could be "
                                 "reached when it began)",
                                 left)));
    EXPECT_EQ(::kill(left, SIGKILL), 0) << "it was named, and not stopped";
}

TEST_F(Spool, TheNextDaemonTakesItInWithItsTimes) {
    run_unseen({"sh", "-c", "kill -9 $$"});
    const auto create = parse(lines().front());
    const auto close = parse(lines().back());

    Daemon daemon(home);
    daemon.wait_for_log("took in");

    Client client(home.socket());
    const auto session = client.must("session.show", R"({"session_id":"s"})");
    EXPECT_EQ(text(session, "title"), "unseen");
    EXPECT_EQ(text(session, "reason"), "signaled");
    EXPECT_EQ(text(session, "detail"), "signal 9 (SIGKILL)");
    EXPECT_EQ(text(session, "started_at"), text(create, "at"));
    EXPECT_EQ(text(session, "ended_at"), text(close, "at"));
    EXPECT_EQ(number(session, "owner.pid"), number(create, "params.owner.pid"));
    EXPECT_THAT(text(session, "evidence"), HasSubstr("spooled"));
    EXPECT_THAT(story_of(client, "s"), ElementsAre("session:start 1", "session:end 1"));
    EXPECT_THAT(spooled(), IsEmpty());
}

TEST_F(Spool, OneThatIsDeliveredTwiceIsRecordedOnce) {
    run_unseen({"true"});
    const auto record = read_file(spool());
    Daemon daemon(home);
    daemon.wait_for_log("took in");
    daemon.kill9();
    write_file(spool(), record);  // as if the crash had come before it was deleted

    daemon.start();
    daemon.wait_for_log("took in");

    Client client(home.socket());
    EXPECT_THAT(story_of(client, "s"), ElementsAre("session:start 1", "session:end 1"));
    EXPECT_THAT(spooled(), IsEmpty());
}

TEST_F(Spool, ALastLineCutShortWasNeverSaid) {
    run_unseen({"true"});
    const auto record = read_file(spool());
    write_file(spool(), record.substr(0, record.size() - 20));

    Daemon daemon(home);
    // Nobody said how it ended; that its owner is gone is found out like any other death.
    daemon.wait_for_log("ended session s generation 1: owner_lost");
    daemon.wait_for_log("took in");

    Client client(home.socket());
    EXPECT_THAT(story_of(client, "s"), ElementsAre("session:start 1", "session:end 1"));
    EXPECT_THAT(spooled(), IsEmpty());
}

TEST_F(Spool, ALineCutShortDoesNotSpoilTheNext) {
    run_unseen({"true"});
    write_file(spool(), lines().front().substr(0, 50));
    run_unseen({"sh", "-c", "exit 2"});

    Daemon daemon(home);
    daemon.wait_for_log("took in");

    Client client(home.socket());
    EXPECT_THAT(story_of(client, "s"), ElementsAre("session:start 1", "session:end 1"));
    EXPECT_EQ(text(client.must("session.show", R"({"session_id":"s"})"), "detail"), "exit 2");
}

TEST_F(Spool, AFileWithoutAWholeLineIsNotTakenForDelivered) {
    run_unseen({"true"});
    const auto torn = lines().front().substr(0, 50);
    write_file(spool(), torn);
    write_file(home.file("spool/empty.jsonl"), "");

    Daemon daemon(home);
    daemon.wait_for_log("s.jsonl.bad");
    daemon.wait_for_log("empty.jsonl: it is empty");

    EXPECT_THAT(spooled(), ElementsAre("s.jsonl.bad"));
    EXPECT_EQ(read_file(home.file("spool/s.jsonl.bad")), torn);
    EXPECT_THAT(read_file(home.file("knell.log")), Not(HasSubstr("took in")));
}

TEST_F(Spool, WhatCannotBeReadIsSetAside) {
    run_unseen({"true"}, "good");
    write_file(home.file("spool/garbage.jsonl"), "this is not JSON\n");
    write_file(home.file("spool/strange.jsonl"), R"({"v":1,"at":"2026-01-01T00:00:00.000Z",)"
                                                 R"("method":"session.explode","params":{}})"
                                                 "\n");
    write_file(home.file("spool/readme.txt"), "not ours\n");

    Daemon daemon(home);
    for (const auto* name : {"good", "garbage", "strange"})
        daemon.wait_for_log(std::string(name) + ".jsonl");

    Client client(home.socket());
    EXPECT_THAT(story_of(client, "good"), ElementsAre("session:start 1", "session:end 1"));
    EXPECT_THAT(spooled(), ElementsAre("garbage.jsonl.bad", "readme.txt", "strange.jsonl.bad"));
    EXPECT_EQ(read_file(home.file("spool/garbage.jsonl.bad")), "this is not JSON\n");
}

TEST_F(Spool, APipeALinkAndAHugeFileHoldNobodyUp) {
    run_unseen({"true"}, "good");
    const auto pipe = home.file("spool/pipe.jsonl");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    write_file(home.file("elsewhere"), "not to be read\n");
    ASSERT_EQ(symlink(home.file("elsewhere").c_str(), home.file("spool/link.jsonl").c_str()), 0);
    write_file(home.file("spool/huge.jsonl"), std::string(2U << 20U, '\n'));
    write_file(home.file("spool/long.jsonl"), [] {
        std::string text;
        for (int line = 0; line < 2000; ++line) text += "{}\n";
        return text;
    }());

    Daemon daemon(home);
    for (const auto* name : {"good", "pipe", "link", "huge", "long"}) {
        daemon.wait_for_log(std::string(name) + ".jsonl");
    }

    Client client(home.socket());
    EXPECT_THAT(story_of(client, "good"), ElementsAre("session:start 1", "session:end 1"));
    EXPECT_THAT(spooled(), ElementsAre("huge.jsonl.bad", "link.jsonl.bad", "long.jsonl.bad",
                                       "pipe.jsonl.bad"));
    EXPECT_EQ(read_file(home.file("elsewhere")), "not to be read\n");
}

TEST_F(Spool, WhatWasSetAsideBeforeIsNotOverwritten) {
    run_unseen({"true"}, "good");
    write_file(home.file("spool/s.jsonl.bad"), "the first\n");
    write_file(spool(), "the second\n");

    Daemon daemon(home);
    daemon.wait_for_log("s.jsonl.bad.2");

    EXPECT_EQ(read_file(home.file("spool/s.jsonl.bad")), "the first\n");
    EXPECT_EQ(read_file(home.file("spool/s.jsonl.bad.2")), "the second\n");
}

TEST_F(Spool, MoreFilesThanDescriptorsAreTakenInAllTheSame) {
    run_unseen({"true"}, "s");
    const auto record = read_file(spool());
    constexpr int copies = 300;
    for (int copy = 0; copy < copies; ++copy) {
        const auto id = fmt::format("copy-{}", copy);
        std::string text = record;
        for (const std::string mark : {R"("id":"s")", R"("session_id":"s")"}) {
            const auto renamed = mark.substr(0, mark.size() - 2) + id + "\"";
            for (auto at = text.find(mark); at != std::string::npos;
                 at = text.find(mark, at + renamed.size())) {
                text.replace(at, mark.size(), renamed);
            }
        }
        write_file(home.file(fmt::format("spool/{}.jsonl", id)), text);
    }

    Daemon daemon(home, {.descriptors_max = 200, .file_bytes_max = {}});
    for (int copy = 0; copy < copies; ++copy) {
        daemon.wait_for_log(fmt::format("copy-{}.jsonl", copy));
    }
    daemon.wait_for_log("/s.jsonl");

    Client client(home.socket());
    EXPECT_THAT(spooled(), IsEmpty());
    EXPECT_THAT(story_of(client, "copy-299"), ElementsAre("session:start 1", "session:end 1"));
}

TEST_F(Spool, ARunThatHadNoDaemonDoesNotEndAnothersSession) {
    {
        Daemon daemon(home);
        Client client(home.socket());
        client.must("session.create", R"({"id":"s","source":"cli"})");
        daemon.terminate();
    }
    EXPECT_EQ(run_unseen({"true"}).status, 0);

    Daemon daemon(home);
    daemon.wait_for_log("s.jsonl");

    Client client(home.socket());
    EXPECT_EQ(text(client.must("session.show", R"({"session_id":"s"})"), "status"), "idle");
    EXPECT_THAT(spooled(), ElementsAre("s.jsonl")) << "it waits";

    client.must("session.close", R"({"session_id":"s","reason":"completed"})");
    daemon.terminate();
    Daemon next(home);
    next.wait_for_log("took in");
    Client again(home.socket());
    EXPECT_THAT(story_of(again, "s"), ElementsAre("session:start 1", "session:end 1",
                                                  "session:start 2", "session:end 2"));
    EXPECT_THAT(spooled(), IsEmpty());
}

TEST_F(Spool, TheEndComesAfterADaemonTookInTheStart) {
    const auto outcome = run_unseen({"sh", "-c", "cp \"$0\" \"$1\"", spool(), home.file("start")});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto record = read_file(spool());
    write_file(spool(), read_file(home.file("start")));
    Daemon daemon(home);
    daemon.wait_for_log("took in");
    daemon.terminate();
    write_file(spool(), record.substr(record.find('\n') + 1));  // what was added at the end

    daemon.start();
    daemon.wait_for_log("took in");

    Client client(home.socket());
    EXPECT_THAT(story_of(client, "s"), ElementsAre("session:start 1", "session:end 1"));
    EXPECT_THAT(spooled(), IsEmpty());
}

TEST_F(Spool, AnEndWithoutAStartEndsNobodysSession) {
    {
        Daemon daemon(home);
        Client(home.socket()).must("session.create", R"({"id":"s","source":"cli"})");
        daemon.terminate();
    }
    EXPECT_EQ(run_unseen({"true"}).status, 0);
    write_file(spool(), lines().back());

    Daemon daemon(home);
    daemon.wait_for_log("s.jsonl");

    Client client(home.socket());
    EXPECT_EQ(text(client.must("session.show", R"({"session_id":"s"})"), "status"), "idle");
    EXPECT_THAT(spooled(), ElementsAre("s.jsonl.bad"));
}

TEST_F(Spool, ADaemonThatHoldsTheLockButNeverAnswersIsNotWaitedForForEver) {
    const Fd lock{open(home.file("knell.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    ASSERT_EQ(flock(lock.get(), LOCK_EX | LOCK_NB), 0);

    const auto outcome = home.knell({"run", "--id", "s", "--", "sh", "-c", "echo done; exit 5"});

    EXPECT_EQ(outcome.status, 5);
    EXPECT_EQ(outcome.out, "done\n");
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_THAT(spooled(), ElementsAre("s.jsonl"));
}

TEST_F(Spool, WithoutAPlaceToWriteTheCommandRunsAllTheSame) {
    write_file(home.file("plain"), "");
    auto spawn = home.command({"run", "--", "sh", "-c", "cat; exit 6"});
    spawn.environment["KNELL_HOME"] = home.file("plain/below");

    const auto outcome = run_command(spawn, "through");

    EXPECT_EQ(outcome.status, 6);
    EXPECT_EQ(outcome.out, "through");
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("knell run:"));
}

}  // namespace
}  // namespace knell::functional
