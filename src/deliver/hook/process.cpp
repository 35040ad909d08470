#include "deliver/hook/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include "core/limits.hpp"
#include "deliver/hook/command.hpp"
#include "deliver/hook/environment.hpp"
#include "deliver/hook/launch.hpp"
#include "deliver/hook/run.hpp"
#include "platform/environment.hpp"
#include "platform/shortage.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

/// Between asking a hook to end and killing it.
constexpr auto end_grace = 2s;
/// Where programs are when nobody says.
constexpr auto default_search_path = "/usr/local/bin:/usr/bin:/bin";

struct Pipe {
    Fd reader;
    Fd writer;
};

std::unexpected<Error> cannot(std::string_view what) {
    const int error = errno;
    return fail(is_shortage(error) ? ErrorCode::limit : ErrorCode::internal,
                fmt::format("cannot {}: {}", what, std::generic_category().message(error)));
}

/// We never wait for a hook to print; a hook that prints may wait for us.
Result<Pipe> open_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return cannot("open a pipe for its output");
    Pipe pipe{Fd{ends[0]}, Fd{ends[1]}};
    if (fcntl(pipe.reader.get(), F_SETFL, O_NONBLOCK) != 0) return cannot("read its output");
    return pipe;
}

/// Everything that will be run is looked at now, not when the hook was read: who could change it
/// since then could have had it run.
Result<HookCommand> command_of(const HookSpec& spec) {
    const auto search_path = environment_variable("PATH");
    auto command = open_hook_command(spec.directory, {spec.argv, spec.is_python_handler},
                                     search_path.empty() ? default_search_path : search_path);
    if (command) return std::move(*command);
    const auto& problem = command.error().what;
    const auto& program = spec.argv.front();
    return fail(
        command.error().is_shortage ? ErrorCode::limit : ErrorCode::unauthorized,
        printable_line(fmt::format("cannot run {}: {}", program,
                                   problem.file == program ? problem.message : to_text(problem))));
}

std::string signal_name(int signal) {
    const auto* name = sigabbrev_np(signal);
    return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

}  // namespace

Result<std::unique_ptr<HookProcess>> HookProcess::start(const HookSpec& spec,
                                                        const RenderedEvent& rendered,
                                                        const std::string& node, SteadyTime now) {
    // A line, for those who read lines.
    auto input = input_of(rendered.json + '\n');
    if (!input) return std::unexpected(std::move(input.error()));
    auto pipe = open_pipe();
    if (!pipe) return std::unexpected(std::move(pipe.error()));
    const auto command = command_of(spec);
    if (!command) return std::unexpected(command.error());
    auto environment = hook_environment(environ, rendered);
    if (!environment) return std::unexpected(std::move(environment.error()));
    const auto run = run_of_ours(node, spec.name);
    // A cookie that does not name this daemon would let another one take the hook for an orphan.
    if (run.daemon_start_ticks == 0) {
        return fail(ErrorCode::limit, "cannot mark it as ours: /proc/self/stat cannot be read");
    }
    const auto cookie = text_before_group(run);
    auto started = launch({.command = *command,
                           .environment = std::move(*environment),
                           .input = input->get(),
                           .output = pipe->writer.get(),
                           .cookie_name = hook_run_variable,
                           .cookie = cookie});
    if (!started) return std::unexpected(std::move(started.error()));
    return std::unique_ptr<HookProcess>(
        new HookProcess(*std::move(started), std::move(pipe->reader), spec.timeout, now));
}

HookProcess::HookProcess(Spawned started, Fd output, std::chrono::seconds timeout, SteadyTime now)
    : pid_(started.pid),
      pidfd_(std::move(started.pidfd)),
      output_fd_(std::move(output)),
      timeout_(timeout),
      next_deadline_(now + timeout) {}

HookProcess::~HookProcess() {
    kill();
    reap();
}

void HookProcess::add_descriptors(std::vector<pollfd>& out) const {
    for (const auto* fd : {&pidfd_, &output_fd_}) {
        if (*fd) out.push_back({.fd = fd->get(), .events = POLLIN, .revents = 0});
    }
}

std::optional<Outcome> HookProcess::step(SteadyTime now) {
    read_output();
    // In this order: one that made it just in time made it, however late we come to look.
    if (auto outcome = outcome_of_exit()) return outcome;
    return enforce_deadline(now);
}

void HookProcess::read_output() {
    std::array<char, 64U << 10U> chunk;
    std::size_t left = limits::hook_output_bytes_per_step_max;
    while (output_fd_ && left > 0) {
        const auto size = ::read(output_fd_.get(), chunk.data(), std::min(chunk.size(), left));
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno == EAGAIN) return;
        if (size <= 0) return output_fd_.reset();
        output_.append({chunk.data(), static_cast<std::size_t>(size)});
        left -= static_cast<std::size_t>(size);
    }
}

std::optional<Outcome> HookProcess::outcome_of_exit() {
    siginfo_t info{};
    // Only looked at: until it is reaped nobody else can have the number of its group.
    constexpr int look = WEXITED | WNOHANG | WNOWAIT;
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, look) != 0) {
        if (errno != ECHILD) return std::nullopt;
        reap();  // somebody did: its number is not its own any more
        return finish(Outcome::Kind::failed, "ended, and its exit status was lost");
    }
    if (info.si_pid == 0) return std::nullopt;
    read_output();  // what it printed since we last read, and then ended
    if (asked_to_end_) return finish_overdue();
    if (info.si_code != CLD_EXITED) {
        return finish(Outcome::Kind::failed,
                      fmt::format("killed by {}", signal_name(info.si_status)));
    }
    if (info.si_status == 0) return finish(Outcome::Kind::delivered, "exit 0");
    const auto said = output_.last_line();
    return finish(Outcome::Kind::failed,
                  fmt::format("exit {}{}{}", info.si_status, said.empty() ? "" : ": ", said));
}

std::optional<Outcome> HookProcess::enforce_deadline(SteadyTime now) {
    if (!next_deadline_ || now < *next_deadline_) return std::nullopt;
    if (asked_to_end_) return finish_overdue();
    asked_to_end_ = true;
    next_deadline_ = now + end_grace;
    signal_group(SIGTERM);
    return std::nullopt;
}

Outcome HookProcess::finish(Outcome::Kind kind, std::string what) {
    kill();
    reap();
    return {.kind = kind,
            .what = std::move(what),
            .output = output_.text(),
            .retry_after = std::nullopt};
}

Outcome HookProcess::finish_overdue() {
    return finish(Outcome::Kind::failed, fmt::format("timed out after {} s", timeout_.count()));
}

void HookProcess::signal_group(int signal) const {
    // The main process is always in it: who leads a session cannot leave its group.
    if (pid_ > 0) ::kill(-pid_, signal);
}

void HookProcess::kill() {
    signal_group(SIGKILL);
    output_fd_.reset();
    next_deadline_.reset();
}

bool HookProcess::reap() {
    if (pid_ <= 0) return true;
    siginfo_t info{};
    const int looked = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG);
    const bool gone = looked == 0 ? info.si_pid != 0 : errno == ECHILD;
    if (!gone) return false;
    pid_ = -1;
    pidfd_.reset();
    return true;
}

}  // namespace knell
