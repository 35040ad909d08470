// What background processes are said to be doing: real ones of every class, side by side in one
// daemon, because none is called idle before it was looked at for a minute.

#include <csignal>
#include <functional>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "functional/harness/background.hpp"
#include "functional/harness/inside.hpp"
#include "functional/harness/pty.hpp"
#include "testing/tcp_peer.hpp"

namespace knell::functional {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Activity : public WithBackground {
  protected:
    struct Server {
        std::string id;
        std::string address;
    };
    Server start_server() {
        const auto id =
            id_of(start({"python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"},
                        fmt::format(R"("cwd":{})", json_word(home.path()))));
        until_it_wrote(id, "port ");
        const auto said = text(output(id), "output");
        const auto port = said.substr(said.find("port ") + 5);
        return {.id = id, .address = "127.0.0.1:" + port.substr(0, port.find(' '))};
    }
    static void ask(const Server& server) {
        knell::testing::TcpPeer peer(server.address);
        peer.send("GET /nothing HTTP/1.0\r\n\r\n");
        EXPECT_THAT(peer.read_all(), HasSubstr("404"));
    }
    /// Somebody uses it until that is noticed.
    void use(const Server& server) {
        until_it_is(server.id, "working", "new connections", [&] {
            for (int i = 0; i < 3; ++i) ask(server);
        });
    }
    void expect_idle(const Server& server) {
        EXPECT_THAT(text(row(server.id), "evidence"),
                    AllOf(StartsWith("no CPU for "), HasSubstr("listens on " + server.address),
                          HasSubstr("no connection since ")));
        EXPECT_FALSE(at(row(server.id), "counts").as_bool());
    }

    /// Starts it at the lowest priority: others need the processors too.
    Json start_busy(std::vector<std::string> argv) {
        argv.insert(argv.begin(), {"nice", "-n", "19"});
        return start(argv);
    }
    /// A shell that somebody could type into, started by somebody else.
    static Process shell_at(Pty& pty) {
        Spawn spawn{.argv = {"sh", "-i"}};
        spawn.in = spawn.out = spawn.err = pty.slave.get();
        spawn.before_exec = [] {
            ::setsid();
            ::ioctl(0, TIOCSCTTY, 0);
        };
        Process shell(spawn);
        pty.slave.reset();
        return shell;
    }
    /// What has left its parent for good, once it is on record.
    std::string start_daemonised() {
        const auto parent = id_of(start_shell("setsid sleep 1004 & exit 0"));
        std::string survivor;
        until(
            [&] {
                for (const auto& process : rows()) {
                    if (text(process, "origin") == "leftover") survivor = id_of(process);
                }
                return !survivor.empty();
            },
            "what daemonised to be on record");
        EXPECT_EQ(text(row(parent), "activity"), "exited");
        return survivor;
    }

    std::string activity_of(const std::string& id) { return text(row(id), "activity"); }
    /// May take more than a minute, which `until` does not wait.  `evidence`: that is part of it.
    void until_it_is(const std::string& id, const std::string& wanted,
                     const std::string& evidence = {},
                     const std::function<void()>& meanwhile = {}) {
        constexpr int checks_max = 750;
        constexpr int moments = 10;  // between two checks
        for (int check = 0; check < checks_max; ++check) {
            const auto process = row(id);
            if (text(process, "activity") == wanted &&
                text(process, "evidence").contains(evidence)) {
                return;
            }
            if (meanwhile) meanwhile();
            for (int moment = 0; moment < moments; ++moment) daemon.listen();
        }
        throw std::runtime_error(
            fmt::format("{} is not {}: {}", id, wanted, wire::to_text(row(id))));
    }
};

TEST_F(Activity, OfEveryKind) {
    const auto log = home.file("some.log");
    const auto source = home.file("source.cpp");
    write_file(log, "begun\n");
    write_file(source, "int main() { return 0; }\n");
    struct Wanted {
        std::string activity;
        std::string evidence;
    };
    std::map<std::string, Wanted> wanted;  // by id
    const auto expect = [&](const std::string& id, const std::string& activity,
                            const std::string& evidence) {
        wanted[id] = {.activity = activity, .evidence = evidence};
        return id;
    };
    const auto idle_server = start_server();
    const auto used_server = start_server();
    expect(used_server.id, "listening", "listens on " + used_server.address);
    const auto busy = expect(id_of(start_busy({"dd", "if=/dev/zero", "of=/dev/null", "bs=64k"})),
                             "working", "of a core");
    const auto compiler =
        expect(id_of(start_busy(
                   {"sh", "-c", "while :; do c++ -S -o /dev/null \"$0\" || exit; done", source})),
               "working", "started");
    const auto forks =
        expect(id_of(start_shell("while :; do sleep 0.2; done")), "working", "started");
    const auto sleeper = expect(id_of(start({"sleep", "1000"})), "waiting", "listens on nothing");
    expect(id_of(start({"tail", "-f", log})), "waiting", "listens on nothing");
    expect(id_of(start_shell("true & exec sleep 1000")), "waiting", "no CPU");  // above a zombie
    const auto stopped = start({"sleep", "1000"});
    ::kill(pid_of(stopped), SIGSTOP);
    expect(id_of(stopped), "waiting", "is stopped by a signal");
    expect(id_of(start_shell("trap '' TERM; echo deaf; while :; do sleep 1000; done")), "waiting",
           "no CPU");
    expect(start_daemonised(), "waiting", "no CPU");
    if (may_unshare()) {
        expect(id_of(start({"unshare", "--pid", "--fork", "--kill-child", "sleep", "1000"})),
               "waiting", "no CPU");
    } else {
        std::cerr << "not shown: a pid namespace, which needs the right to unshare\n";
    }
    Pty pty;
    const std::string terminal = ::ptsname(pty.master.get());
    const auto shell = shell_at(pty);
    expect(id_of(client.must("process.register", fmt::format(R"({{"session_id":"{}","pid":{}}})",
                                                             session, shell.pid()))),
           "waiting", "waits at terminal " + terminal);
    for (const auto& [id, _] : wanted) {
        EXPECT_EQ(activity_of(id), "working") << "nothing is idle before it was looked at";
    }
    use(used_server);

    until_it_is(idle_server.id, "listening");
    expect_idle(idle_server);
    use(idle_server);
    EXPECT_TRUE(at(row(idle_server.id), "counts").as_bool());

    for (const auto& [id, expected] : wanted) {
        until_it_is(id, expected.activity, expected.evidence);
        EXPECT_EQ(at(row(id), "counts").as_bool(), expected.activity == "working");
    }
    expect_idle(used_server);
    EXPECT_EQ(count_events("process:exit"), 1U) << "of what daemonised, and no other";
    EXPECT_EQ(text(show(session), "status"), "background") << "there is work that counts";

    // Without work that counts the session is free, whatever still runs.
    for (const auto& id : {busy, compiler, forks}) stop(id);
    for (const auto& id : {busy, compiler, forks}) exited(id);
    until_it_is(idle_server.id, "listening");
    expect_idle(idle_server);
    until([&] { return text(show(session), "status") == "idle"; }, "the session to be idle");

    // The next daemon goes on from the record.
    const auto since = text(row(sleeper), "activity_since");
    daemon.kill9();
    daemon.start();
    reconnect();
    for (const auto& [id, expected] : wanted) {
        if (expected.activity != "working") {
            EXPECT_EQ(activity_of(id), expected.activity);
        }
    }
    EXPECT_EQ(text(row(sleeper), "activity_since"), since);
    EXPECT_EQ(activity_of(busy), "exited");
}

TEST_F(Activity, InANamespaceOfItsOwnIsSeen) {
    if (!may_unshare()) GTEST_SKIP() << "needs the right to make a pid namespace (unshare)";
    const auto id = id_of(start_busy({"unshare", "--pid", "--fork", "--kill-child", "dd",
                                      "if=/dev/zero", "of=/dev/null", "bs=64k"}));
    until_it_is(id, "working", "of a core");
}

}  // namespace
}  // namespace knell::functional
