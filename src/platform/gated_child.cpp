#include "platform/gated_child.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <type_traits>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/signals_blocked.hpp"

namespace knell {

namespace {

constexpr int never_ran = 125;
constexpr int cannot_execute = 126;

static_assert(std::is_trivially_copyable_v<SpawnFailure>);

struct Ends {
    Fd reader;
    Fd writer;
};

/// Above the numbers that the child's own are put under.  A socket: writing to one whose reader is
/// gone is an error and no signal.
std::optional<Ends> open_ends(int first_free) {
    std::array<int, 2> low{};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, low.data()) != 0) return std::nullopt;
    Ends ends{Fd{low[0]}, Fd{low[1]}};
    for (auto* end : {&ends.reader, &ends.writer}) {
        if (end->get() >= first_free) continue;
        *end = Fd{fcntl(end->get(), F_DUPFD_CLOEXEC, first_free)};
        if (!*end) return std::nullopt;
    }
    return ends;
}

void tell(int report, const SpawnFailure& what) {
    while (send(report, &what, sizeof what, MSG_NOSIGNAL) < 0 && errno == EINTR) continue;
}

/// In the child: system calls alone.
[[noreturn]] void wait_and_execute(ChildPlan& plan, const std::vector<int>& needed, int gate,
                                   int report) {
    plan.close_all_but(needed);
    if (const auto failed = plan.prepare()) {
        tell(report, *failed);
        _exit(never_ran);
    }
    tell(report, {SpawnStep::program, 0});
    std::array<char, 1 + ChildPlan::late_value_max> message{};
    ssize_t size = 0;
    do {
        size = read(gate, message.data(), message.size());
    } while (size < 0 && errno == EINTR);
    if (size <= 0) _exit(never_ran);
    tell(report, plan.execute({message.data() + 1, static_cast<std::size_t>(size) - 1}));
    _exit(cannot_execute);
}

std::unexpected<GateFailure> failed_at(SpawnStep step, int error, pid_t unreaped = 0) {
    return std::unexpected(GateFailure{{step, error}, unreaped});
}

/// What it says first; an error of 0: it is ready.
SpawnFailure first_word(int report, std::chrono::milliseconds wait_max) {
    pollfd look{.fd = report, .events = POLLIN, .revents = 0};
    int ready = 0;
    do {
        ready = poll(&look, 1, static_cast<int>(wait_max.count()));
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) return {SpawnStep::directory, ETIMEDOUT};
    SpawnFailure told{SpawnStep::fork, 0};
    const auto size = read(report, &told, sizeof told);
    // It was killed before it could say anything.
    if (size != sizeof told) return {SpawnStep::fork, ECHILD};
    return told;
}

}  // namespace

std::expected<GatedChild, GateFailure> GatedChild::start(ChildSpec spec,
                                                         std::chrono::milliseconds prepare_max) {
    spec.resets_signals = true;
    spec.closes_others = true;
    ChildPlan plan(std::move(spec));
    auto gate = open_ends(plan.first_free());
    auto report = gate ? open_ends(plan.first_free()) : std::nullopt;
    if (!report) return failed_at(SpawnStep::descriptors, errno);
    const auto needed = plan.needed_descriptors({gate->reader.get(), report->writer.get()});
    pid_t pid = -1;
    int error = 0;
    {
        const SignalsBlocked blocked;
        // Not `spawn`, which shares our memory with the child and so waits until it has executed.
        pid = ::fork();
        if (pid == 0) wait_and_execute(plan, needed, gate->reader.get(), report->writer.get());
        error = errno;
    }
    if (pid < 0) return failed_at(SpawnStep::fork, error);
    gate->reader.reset();
    report->writer.reset();
    const auto told = first_word(report->reader.get(), prepare_max);
    if (told.error == 0) {
        return GatedChild{pid, std::move(gate->writer), std::move(report->reader)};
    }
    ::kill(pid, SIGKILL);  // not reaped yet, so the number is its own
    const bool hangs = told.error == ETIMEDOUT && waitpid(pid, nullptr, WNOHANG) == 0;
    if (told.error != ETIMEDOUT) waitpid(pid, nullptr, 0);
    return failed_at(told.step, told.error, hangs ? pid : 0);
}

void GatedChild::open(std::string_view late_value) {
    std::string message = ">";
    message += late_value.substr(0, ChildPlan::late_value_max);
    // Fails only when the child is dead by now, which whoever watches it is told.
    while (send(gate_.get(), message.data(), message.size(), MSG_NOSIGNAL) < 0 && errno == EINTR) {
        continue;
    }
    gate_.reset();
}

GatedChild::Told GatedChild::look() {
    pollfd ready{.fd = report_.get(), .events = POLLIN, .revents = 0};
    if (!report_ || poll(&ready, 1, 0) <= 0) return {.is_over = !report_, .failure = {}};
    SpawnFailure failure{};
    const auto size = read(report_.get(), &failure, sizeof failure);
    report_.reset();
    if (size != sizeof failure) return {.is_over = true, .failure = {}};
    return {.is_over = true, .failure = failure};
}

}  // namespace knell
