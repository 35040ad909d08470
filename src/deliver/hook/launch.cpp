#include "deliver/hook/launch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/check.hpp"
#include "deliver/hook/output.hpp"

namespace knell {

namespace {

constexpr std::size_t pid_digits = 10;
constexpr int first_other_fd = STDERR_FILENO + 1;

/// All that the child needs, made before it exists: it may only make system calls.
struct Plan {
    int input;
    int output;
    int directory;
    int program_directory;
    const char* program_name;
    const char* script;  // or null
    char* const* argv;
    char* const* environment;
    char* pid_place;  // in one of the environment's texts
    int report;       // closes when it has worked, else gets an errno
    int descriptors_max;
    pid_t parent;
};

void write_pid(char* place, pid_t pid) {
    for (auto i = pid_digits; i > 0; --i, pid /= 10) {
        place[i - 1] = static_cast<char>('0' + pid % 10);
    }
}

bool set_signals_to_default() {
    struct sigaction action{};
    action.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &action, nullptr);
    sigset_t none;
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, nullptr) == 0;
}

/// Whatever else the daemon has open, the store and its lock first of all, is none of a hook's.
void close_the_rest_at_exec(int descriptors_max) {
    if (close_range(first_other_fd, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
    for (int fd = first_other_fd; fd < descriptors_max; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/// In the child.  Returns only when something failed; errno says what.
void become(const Plan& plan) {
    // A session of its own, not just a group: without a terminal to ask on, what wants a password
    // fails at once instead of waiting for one until its time is over.
    if (setsid() < 0) return;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
    if (getppid() != plan.parent) _exit(1);  // killed before we had asked to be told
    if (dup2(plan.input, STDIN_FILENO) < 0) return;
    if (dup2(plan.output, STDOUT_FILENO) < 0 || dup2(plan.output, STDERR_FILENO) < 0) return;
    if (fchdir(plan.directory) != 0) return;
    close_the_rest_at_exec(plan.descriptors_max);
    write_pid(plan.pid_place, getpid());
    if (!set_signals_to_default()) return;
    if (plan.script != nullptr) {
        execve(plan.script, plan.argv, plan.environment);
    } else {
        syscall(SYS_execveat, plan.program_directory, plan.program_name, plan.argv,
                plan.environment, AT_SYMLINK_NOFOLLOW);
    }
}

/// Not inlined: nothing that the caller keeps on its stack is changed under it.
[[gnu::noinline]] pid_t start_child(const Plan& plan) {
    // As in posix_spawn, and for the same reasons; that can neither execute by descriptor nor ask
    // for a signal when we die.  NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork)
    const pid_t pid = vfork();
    if (pid != 0) return pid;
    become(plan);
    const int error = errno;
    static_cast<void>(write(plan.report, &error, sizeof error) == 0);
    _exit(127);
}

/// No handler of ours may run in the child: it has our memory.
class SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  private:
    sigset_t before_{};
};

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    // The type is C's; exec copies and never writes.
    for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

/// Out of the way of 0, 1 and 2, which the child's own are put over.
Fd lifted(int fd) {
    return Fd{fcntl(fd, F_DUPFD_CLOEXEC, first_other_fd)};
}

/// The kernel's words for these lead astray: it says that a script is missing when its interpreter
/// is.
std::string why_not(const HookCommand& command, int error) {
    const auto& program = command.argv.front();
    if (error == ENOEXEC) return "not a program: no #! line";
    if (error == ENOENT && command.is_script) {
        return "the interpreter that its #! line names is not there";
    }
    if (error == EACCES && access(program.c_str(), X_OK) != 0) return "not executable: chmod +x it";
    return std::generic_category().message(error);
}

int descriptors_max() {
    constexpr rlim_t looked_at_max = 65'536;
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    return static_cast<int>(std::min(limit.rlim_cur, looked_at_max));
}

}  // namespace

Result<pid_t> launch(const HookLaunch& order) {
    const auto& command = order.command;
    CHECK(!command.argv.empty());
    const auto input = lifted(order.input);
    const auto output = lifted(order.output);
    std::array<int, 2> ends{};
    if (!input || !output || pipe2(ends.data(), O_CLOEXEC) != 0) {
        return fail(ErrorCode::internal, "cannot start a process: too many open files");
    }
    const Fd result{ends[0]};
    Fd report{ends[1]};
    auto texts = order.environment;
    texts.push_back(fmt::format("{}={}{:0{}}", order.cookie_name, order.cookie, 0, pid_digits));
    const auto argv = pointers_to(command.argv);
    const auto environment = pointers_to(texts);
    const Plan plan{.input = input.get(),
                    .output = output.get(),
                    .directory = command.directory.file.get(),
                    .program_directory = command.program.directory.get(),
                    .program_name = command.program.name.c_str(),
                    .script = command.is_script ? argv.front() : nullptr,
                    .argv = argv.data(),
                    .environment = environment.data(),
                    .pid_place = texts.back().data() + texts.back().size() - pid_digits,
                    .report = report.get(),
                    .descriptors_max = descriptors_max(),
                    .parent = getpid()};
    pid_t pid = -1;
    int error = 0;
    {
        const SignalsBlocked blocked;
        pid = start_child(plan);
        if (pid < 0) error = errno;
    }
    report.reset();
    if (pid > 0 && read(result.get(), &error, sizeof error) <= 0) return pid;
    if (pid > 0) waitpid(pid, nullptr, 0);
    return fail(ErrorCode::internal,
                printable_line(fmt::format("cannot run {}: {}", command.argv.front(),
                                           why_not(command, error))));
}

Result<Fd> input_of(std::string_view text) {
    const auto failed = [] {
        return fail(ErrorCode::internal, fmt::format("cannot hold the event for its input: {}",
                                                     std::generic_category().message(errno)));
    };
    Fd file{memfd_create("knell-event", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (!file) return failed();
    while (!text.empty()) {
        const auto written = ::write(file.get(), text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return failed();
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    // All that the hook starts may hold it too: none can change what another reads.
    constexpr int seals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
    if (fcntl(file.get(), F_ADD_SEALS, seals) != 0) return failed();
    if (lseek(file.get(), 0, SEEK_SET) != 0) return failed();
    return file;
}

}  // namespace knell
