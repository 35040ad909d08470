#include "cli/run_signals.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/clock.hpp"
#include "platform/proc_stat.hpp"
#include "platform/terminal.hpp"

namespace knell::cli {

namespace {

constexpr int ancestors_max = 64;

bool descends_from(pid_t pid, pid_t ancestor) {
    for (int i = 0; i < ancestors_max && pid > 1; ++i) {
        if (pid == ancestor) return true;
        const auto stat = read_proc_stat(pid);
        if (!stat) return false;
        pid = stat->parent;
    }
    return false;
}

/// What a terminal sends goes to the whole foreground group, the child included.  What the command
/// or its own children send to the group (a job-control program that stops itself does) has reached
/// it as well; a second copy would stop it again after it was continued.
bool is_for_child(const siginfo_t& info, pid_t child) {
    if (info.si_signo == SIGCHLD) return false;
    // But that it is closed only the leader of the session is told, as a shell that passes it on.
    if (info.si_signo == SIGHUP && info.si_code == SI_KERNEL) return ::getsid(0) == ::getpid();
    const bool sent =
        info.si_code == SI_USER || info.si_code == SI_QUEUE || info.si_code == SI_TKILL;
    return sent && !descends_from(info.si_pid, child);
}

/// Keeps what asked the command to end.
class Interruptions {
  public:
    Interruptions(bool had_terminal, pid_t child) : had_terminal_(had_terminal), child_(child) {}

    void note(const siginfo_t& info) {
        const int signal = info.si_signo;
        if (signal != SIGHUP && signal != SIGINT && signal != SIGQUIT && signal != SIGTERM) return;
        const bool by_kernel = info.si_code == SI_KERNEL;
        // What the command does to its own group interrupts nobody.
        if (!by_kernel && !is_for_child(info, child_)) return;
        // A shell passes on to its jobs that the terminal is closed.
        const bool by_terminal = by_kernel || (signal == SIGHUP && has_lost_terminal());
        last_ = {.signal = signal, .by_terminal = by_terminal, .before = {}};
        noted_at_ = read_clocks().steady;
    }

    std::optional<Interruption> last() const {
        if (last_.signal == 0 && !has_lost_terminal()) return std::nullopt;
        auto last = last_;
        if (last.signal == 0) {
            last.by_terminal = true;
        } else {
            last.before =
                std::chrono::duration_cast<std::chrono::seconds>(read_clocks().steady - noted_at_);
        }
        return last;
    }

  private:
    bool has_lost_terminal() const { return had_terminal_ && !has_controlling_terminal(); }

    const bool had_terminal_;
    const pid_t child_;
    Interruption last_;
    SteadyTime noted_at_;
};

/// The shell that waits for us must see that the job has stopped, and continue both of us.
void stop_with_child(pid_t child, int signal) {
    const bool job_control = signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
    // Without a terminal nobody would continue us: a debugger or freezer stopped the child, and
    // will continue it and not us.
    if (!job_control && !has_controlling_terminal()) return;
    ::raise(SIGSTOP);
    ::kill(child, SIGCONT);
}

id_t as_id(pid_t pid) {
    return static_cast<id_t>(pid);
}

/// As waitpid(2) would give it.
int wait_status_of(const siginfo_t& ended) {
    if (ended.si_code == CLD_EXITED) return W_EXITCODE(ended.si_status, 0);
    return ended.si_status | (ended.si_code == CLD_DUMPED ? WCOREFLAG : 0);
}

/// Nobody else would wait for them.
void reap_orphans(pid_t child) {
    for (;;) {
        siginfo_t found{};
        const int error = ::waitid(P_ALL, 0, &found, WEXITED | WNOHANG | WNOWAIT);
        if (error != 0 || found.si_pid == 0 || found.si_pid == child) return;
        ::waitpid(found.si_pid, nullptr, WNOHANG);
    }
}

}  // namespace

bool has_children() {
    siginfo_t info{};
    return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

void adopt_orphans() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

RunSignals::RunSignals() : had_terminal_(has_controlling_terminal()) {
    ::sigemptyset(&held_);
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE,
                             SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH, SIGCHLD}) {
        ::sigaddset(&held_, signal);
    }
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) ::sigaddset(&held_, signal);
    ::sigprocmask(SIG_BLOCK, &held_, &mask_before_);
    // Where our parent ignores SIGCHLD we would inherit that, and the kernel would throw away the
    // child's status.
    struct sigaction by_default{};
    by_default.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &by_default, &child_before_);
    // Under `ulimit -f` the spool may be too long to be written: an error as on a full disk, and no
    // reason to leave the command alone.
    struct sigaction ignored{};
    ignored.sa_handler = SIG_IGN;
    ::sigaction(SIGXFSZ, &ignored, &file_size_before_);
}

void RunSignals::restore() const {
    ::sigaction(SIGCHLD, &child_before_, nullptr);
    ::sigaction(SIGXFSZ, &file_size_before_, nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

int RunSignals::take_signal(siginfo_t& info, std::optional<std::chrono::milliseconds> wait) const {
    const auto time = wait.value_or(std::chrono::hours{24});  // then it looks again
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    const std::chrono::nanoseconds rest = time - seconds;
    const timespec at_most{.tv_sec = seconds.count(), .tv_nsec = rest.count()};
    return ::sigtimedwait(&held_, &info, &at_most);
}

RunOutcome RunSignals::wait_for(pid_t child, const Tend& tend) const {
    Interruptions interruptions(had_terminal_, child);
    for (;;) {
        siginfo_t found{};
        if (::waitid(P_PID, as_id(child), &found, WEXITED | WNOHANG | WNOWAIT) != 0) {
            return {W_EXITCODE(1, 0), interruptions.last()};
        }
        if (found.si_pid == child) {
            // Ctrl-C reaches both of us at once: it is there by now, only not taken yet.
            siginfo_t info{};
            const timespec at_once{};
            while (::sigtimedwait(&held_, &info, &at_once) > 0) interruptions.note(info);
            return {wait_status_of(found), interruptions.last()};
        }
        found = {};
        if (::waitid(P_PID, as_id(child), &found, WSTOPPED | WNOHANG) == 0 &&
            found.si_pid == child) {
            stop_with_child(child, found.si_status);
            continue;
        }
        const auto wait = tend();
        reap_orphans(child);
        siginfo_t info{};
        const int signal = take_signal(info, wait);
        if (signal > 0) interruptions.note(info);
        // Not reaped yet, so the pid is still the child's.
        if (signal > 0 && is_for_child(info, child)) ::kill(child, signal);
    }
}

int end_like(int wait_status) {
    if (!WIFSIGNALED(wait_status)) return WEXITSTATUS(wait_status);
    const int signal = WTERMSIG(wait_status);
    // One core, the command's, is enough.  A core handler behind a pipe does not look at the limit,
    // but no handler gets a process that is not dumpable.
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::prctl(PR_SET_DUMPABLE, 0);
    ::signal(signal, SIG_DFL);
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, signal);
    ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
    ::raise(signal);
    return 128 + signal;  // pid 1 of a container survives its own signals
}

}  // namespace knell::cli
