#include "functional/harness/process.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "functional/harness/waiting.hpp"
#include "functional/harness/world.hpp"

namespace knell::functional {

namespace {

std::vector<std::string> merged_environment(Environment wanted) {
    // Somebody's own PATH may hold a folder that they cannot read, which changes how a command that
    // is not there fails.
    wanted.try_emplace("PATH", system_path);
    wanted.merge(world().environment());
    std::vector<std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto name = std::string(text.substr(0, text.find('=')));
        const bool of_knell = name.starts_with("KNELL_") || name.starts_with("XDG_");
        if (!of_knell && !wanted.contains(name)) all.emplace_back(text);
    }
    for (const auto& [name, value] : wanted) all.push_back(name + "=" + value);
    return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (auto& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

void limit(__rlimit_resource_t resource, std::optional<rlim_t> most) {
    if (!most) return;
    const rlimit both{*most, *most};
    if (::setrlimit(resource, &both) != 0) ::_exit(125);
}

/// The kernel answers these calls with an error, for the process and all it starts.
void refuse_calls(const std::vector<long>& calls, int error) {
    if (calls.empty()) return;
    std::array<sock_filter, 32> program{};
    std::size_t size = 0;
    program.at(size++) = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
    for (const auto call : calls) {
        program.at(size++) = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<__u32>(call), 0, 1);
        program.at(size++) =
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (static_cast<__u32>(error) & 0xFFFFU));
    }
    program.at(size++) = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const sock_fprog filter{.len = static_cast<unsigned short>(size), .filter = program.data()};
    const bool refused = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
    if (!refused) ::_exit(125);
}

/// In the child: only calls that are safe after a fork.
[[noreturn]] void become(const Spawn& spawn, char* const* argv, char* const* environment) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Whoever runs the tests may ignore some, as nohup does.
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(spawn.in >= 0 ? spawn.in : null, STDIN_FILENO);
    ::dup2(spawn.out >= 0 ? spawn.out : null, STDOUT_FILENO);
    ::dup2(spawn.err >= 0 ? spawn.err : null, STDERR_FILENO);
    if (!spawn.cwd.empty() && ::chdir(spawn.cwd.c_str()) != 0) ::_exit(125);
    limit(RLIMIT_NOFILE, spawn.descriptors_max);
    limit(RLIMIT_FSIZE, spawn.file_bytes_max);
    if (!world().enter()) ::_exit(125);
    refuse_calls(spawn.refused_calls, spawn.refused_with);
    if (spawn.before_exec != nullptr) spawn.before_exec();
    ::execvpe(argv[0], argv, environment);
    ::_exit(125);
}

/// Those that a Process stands for.
std::set<pid_t>& held() {
    static std::set<pid_t> pids;
    return pids;
}

int as_shell_status(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

std::string knell_binary() {
    const char* path = std::getenv("KNELL_BIN");
    if (path == nullptr) throw std::runtime_error("KNELL_BIN must name the binary under test");
    return path;
}

Process::Process(const Spawn& spawn) {
    // A daemon that detaches becomes the test's own child, which can then wait for it.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    auto argv = spawn.argv;
    auto environment = merged_environment(spawn.environment);
    const auto argv_pointers = pointers_to(argv);
    const auto environment_pointers = pointers_to(environment);
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("cannot fork");
    if (pid_ == 0) become(spawn, argv_pointers.data(), environment_pointers.data());
    held().insert(pid_);
    pidfd_ = Fd{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0U))};
    if (!pidfd_) throw std::runtime_error("cannot watch a child");
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      status_(std::exchange(other.status_, std::nullopt)) {}

Process::~Process() {
    if (pid_ < 0 || status_) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    held().erase(pid_);
}

void Process::signal(int number) const {
    if (!status_) ::kill(pid_, number);
}

void Process::freeze() const {
    signal(SIGSTOP);
    siginfo_t stopped{};
    while (::waitid(P_PID, static_cast<id_t>(pid_), &stopped, WSTOPPED) != 0) {
        if (errno != EINTR) throw std::runtime_error("cannot freeze a child");
    }
}

int Process::wait() {
    if (status_) return *status_;
    wait_for(pidfd_.get(), POLLIN, "the end of a child process");
    int status = 0;
    if (::waitpid(pid_, &status, 0) != pid_) throw std::runtime_error("cannot wait for a child");
    held().erase(pid_);
    status_ = as_shell_status(status);
    return *status_;
}

void Process::become_zombie() const {
    wait_for(pidfd_.get(), POLLIN, "the end of a child process");
}

std::vector<pid_t> orphans() {
    std::vector<pid_t> found;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream children(thread.path() / "children");
        for (pid_t pid = 0; children >> pid;) {
            if (!held().contains(pid)) found.push_back(pid);
        }
    }
    return found;
}

Pipe::Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
    reading = Fd{ends[0]};
    writing = Fd{ends[1]};
}

bool read_available(int fd, std::string& text) {
    std::array<char, 65'536> chunk{};
    const auto count = ::read(fd, chunk.data(), chunk.size());
    if (count > 0) text.append(chunk.data(), static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

std::string read_to_end(int fd) {
    std::string text;
    do {
        wait_for(fd, POLLIN, "the end of a stream");
    } while (read_available(fd, text));
    return text;
}

namespace {

/// Feeds the child and takes what it says, all at once: whoever waits for one of them first would
/// wait for ever once a pipe is full.
void exchange(Fd& in, std::string_view input, const Fd& out, const Fd& err, Outcome& outcome) {
    ::fcntl(in.get(), F_SETFL, O_NONBLOCK);
    bool out_open = true;
    bool err_open = true;
    while (out_open || err_open) {
        if (in && input.empty()) in.reset();
        std::array<pollfd, 3> watched{{{in ? in.get() : -1, POLLOUT, 0},
                                       {out_open ? out.get() : -1, POLLIN, 0},
                                       {err_open ? err.get() : -1, POLLIN, 0}}};
        const int count =
            ::poll(watched.data(), watched.size(), static_cast<int>(wait_max.count()));
        if (count == 0) throw std::runtime_error("a command neither ends nor says anything");
        if (count < 0) continue;
        if (watched[0].revents != 0) {
            const auto sent = ::write(in.get(), input.data(), input.size());
            input.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : input.size());
        }
        if (watched[1].revents != 0) out_open = read_available(out.get(), outcome.out);
        if (watched[2].revents != 0) err_open = read_available(err.get(), outcome.err);
    }
}

}  // namespace

Outcome run_command(Spawn spawn, std::string_view input) {
    ::signal(SIGPIPE, SIG_IGN);
    Pipe in;
    Pipe out;
    Pipe err;
    spawn.in = in.reading.get();
    spawn.out = out.writing.get();
    spawn.err = err.writing.get();
    Process process(spawn);
    in.reading.reset();
    out.writing.reset();
    err.writing.reset();
    Outcome outcome;
    exchange(in.writing, input, out.reading, err.reading, outcome);
    outcome.status = process.wait();
    return outcome;
}

}  // namespace knell::functional
