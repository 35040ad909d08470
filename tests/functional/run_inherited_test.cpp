// knell run in whatever state it is started: the command finds that state, and the end is on
// record.

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "functional/harness/fixture.hpp"

namespace knell::functional {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

template <rlim_t most>
void allow_descriptors() {
    const rlimit both{most, most};
    ::setrlimit(RLIMIT_NOFILE, &both);
}

template <int... numbers>
void ignore_signals() {
    (::signal(numbers, SIG_IGN), ...);
}

template <int... descriptors>
void close_descriptors() {
    (::close(descriptors), ...);
}

void block_all_signals() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
}

void lose_the_directory() {
    char folder[] = "/tmp/knell-test-XXXXXX";
    if (::mkdtemp(folder) == nullptr || ::chdir(folder) != 0 || ::rmdir(folder) != 0) ::_exit(125);
}

struct State {
    const char* name;
    void (*enter)();
    std::vector<std::string> through;  // a program that makes it so and executes the rest
    bool daemon_can_start = true;

    friend void PrintTo(const State& state, std::ostream* out) { *out << state.name; }
};

const std::vector<State>& states() {
    static const std::vector<State> all{
        {"nothing_odd", nullptr, {}},
        {"SIGCHLD_ignored", ignore_signals<SIGCHLD>, {}},
        {"SIGINT_and_SIGQUIT_ignored", ignore_signals<SIGINT, SIGQUIT>, {}},
        {"nohup", nullptr, {"nohup"}},
        {"SIGPIPE_and_SIGTERM_ignored", ignore_signals<SIGPIPE, SIGTERM>, {}},
        {"SIGXFSZ_ignored", ignore_signals<SIGXFSZ>, {}},
        {"terminal_signals_ignored", ignore_signals<SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH>, {}},
        {"all_signals_blocked", block_all_signals, {}},
        {"no_descriptor_0", close_descriptors<0>, {}},
        {"no_descriptor_1", close_descriptors<1>, {}},
        {"no_descriptor_2", close_descriptors<2>, {}},
        {"no_descriptors", close_descriptors<0, 1, 2>, {}},
        {"few_descriptors", allow_descriptors<16>, {}, /*daemon_can_start=*/false},
        {"umask_0777", [] { ::umask(0777); }, {}},
        {"umask_077", [] { ::umask(077); }, {}},
        {"umask_0", [] { ::umask(0); }, {}},
        {"no_terminal", nullptr, {"setsid"}},
        {"no_HOME", nullptr, {"env", "-u", "HOME"}},
        {"no_directory", lose_the_directory, {}},
        {"no_environment", nullptr, {"env", "-i"}},
    };
    return all;
}

/// Looks at what it inherited, from inside; the file is there before.
constexpr auto probe = R"(
open=; for fd in 0 1 2 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$fd ] && open="$open $fd"; done
exec >> "$1"
echo "open:$open"
while read -r name value; do
    case $name in NoNewPrivs: | Seccomp:) echo "$name $value" ;; esac
done < /proc/$$/status
umask
ulimit -n
/bin/pwd
echo "home: $HOME"
exit 7
)";

class Inherited : public testing::TestWithParam<State> {
  protected:
    /// A command under this state, behind `words`: its exit status and what it wrote to the file.
    std::pair<int, std::string> seen_by(std::vector<std::string> words,
                                        const std::vector<std::string>& command) {
        const auto& state = GetParam();
        write_file(out(), "");
        std::vector<std::string> argv = state.through;
        if (argv.size() > 1 && argv[1] == "-i") argv.push_back("KNELL_HOME=" + home.path());
        argv.insert(argv.end(), words.begin(), words.end());
        argv.insert(argv.end(), command.begin(), command.end());
        auto spawn = home.command({});
        spawn.argv = argv;
        spawn.before_exec = state.enter;
        const auto outcome = run_command(spawn);
        EXPECT_EQ(outcome.out, "");
        return {outcome.status, read_file(out())};
    }
    void expect_the_same_under_run() {
        // A shell has its own way with SIGCHLD.
        const std::vector<std::string> signals{"/bin/sed", "-n", "/^Sig[BI]/w" + out(),
                                               "/proc/self/status"};
        const auto bare_signals = seen_by({}, signals);
        EXPECT_THAT(bare_signals.second, HasSubstr("SigIgn"));
        EXPECT_EQ(seen_by({knell_binary(), "run", "--"}, signals), bare_signals);

        const std::vector<std::string> all{"/bin/sh", "-c", probe, "sh", out()};
        const auto bare = seen_by({}, all);
        EXPECT_EQ(bare.first, 7);
        EXPECT_EQ(seen_by({knell_binary(), "run", "--id", "s", "--"}, all), bare);
    }
    std::string out() const { return home.file("seen"); }
    static void expect_recorded(Client& client) {
        const auto session = client.must("session.show", R"({"session_id":"s"})");
        EXPECT_EQ(text(session, "status"), "ended");
        EXPECT_EQ(text(session, "reason"), "exited");
        EXPECT_EQ(text(session, "detail"), "exit 7");
    }

    TempHome home;
};
INSTANTIATE_TEST_SUITE_P(States, Inherited, testing::ValuesIn(states()),
                         [](const auto& state) { return state.param.name; });

TEST_P(Inherited, IsWhatTheCommandFinds) {
    const Daemon daemon{home};
    Client client{home.socket()};

    expect_the_same_under_run();

    expect_recorded(client);
}

TEST_P(Inherited, IsNothingToADaemonThatIsStarted) {
    expect_the_same_under_run();

    if (!GetParam().daemon_can_start) {
        const auto spooled = names_in(home.file("spool"));
        EXPECT_THAT(spooled, testing::SizeIs(2));
        Daemon later{home};
        for (const auto& name : spooled)
            later.wait_for_log("took in " + home.file("spool/" + name));
        Client client{home.socket()};
        expect_recorded(client);
        return;
    }
    Client client{home.socket()};
    expect_recorded(client);
    const auto log = home.file("knell.log");
    EXPECT_THAT(read_file(log), HasSubstr("listens at"));
    for (const auto& name : {home.file("knell.db"), log}) {
        struct stat found{};
        ASSERT_EQ(::stat(name.c_str(), &found), 0) << name;
        EXPECT_EQ(found.st_mode & 0777U, 0600U) << name;
    }
    const auto proc = "/proc/" + std::to_string(number(client.must("node.status"), "pid"));
    EXPECT_THAT(read_file(proc + "/status"), HasSubstr("SigIgn:\t0000000001001000"))
        << "SIGPIPE and SIGXFSZ alone";
    EXPECT_EQ(fs::read_symlink(proc + "/cwd"), "/");
    EXPECT_EQ(fs::read_symlink(proc + "/fd/0"), "/dev/null");
    EXPECT_EQ(fs::read_symlink(proc + "/fd/1"), log);
    EXPECT_EQ(fs::read_symlink(proc + "/fd/2"), log);
    EXPECT_EQ(home.knell({"down"}).status, 0) << "it takes SIGTERM";
}

/// `ulimit -f 0`.  What is built with coverage keeps its profile in a file from the start, and
/// would be killed for it.
void forbid_files(Spawn& spawn) {
    spawn.file_bytes_max = 0;
    spawn.environment["LLVM_PROFILE_FILE"] = "/dev/null";
}

TEST(FileSizeLimit, KeepsNoCommandFromRunning) {
    const TempHome home;
    auto spawn = home.command({"run", "--id", "s", "--", "sh", "-c", "echo done; exit 3"});
    spawn.environment["KNELL_SOCKET"] = home.file("none");  // so that the spool is to take it
    forbid_files(spawn);

    const auto outcome = run_command(spawn);

    EXPECT_EQ(outcome.status, 3);
    EXPECT_EQ(outcome.out, "done\n");
    EXPECT_THAT(outcome.err, HasSubstr("the command runs unrecorded: cannot write"));
}

TEST(FileSizeLimit, KillsTheCommandItselfAsUsual) {
    const TempHome home;
    const Daemon daemon(home);
    auto spawn = home.command({"run", "--id", "s", "--", "sh", "-c",
                               "exec head -c 9 /dev/zero > \"$0\"", home.file("written")});
    forbid_files(spawn);

    EXPECT_EQ(run_command(spawn).status, 128 + SIGXFSZ);

    Client client(home.socket());
    const auto session = client.must("session.show", R"({"session_id":"s"})");
    EXPECT_EQ(text(session, "detail"), "signal 25 (SIGXFSZ)");
}

}  // namespace
}  // namespace knell::functional
