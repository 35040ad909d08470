#include "platform/process_limits.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/fd.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

// linux/ioprio.h is not in Debian 12's headers for user space.
constexpr int ioprio_of_process = 1;
constexpr int ioprio_class_shift = 13;
constexpr int ioprio_class_idle = 3;

constexpr rlim_t stack_default = 8U << 20U;
/// Fewer descriptors than this bound how many owners can be watched and clients served.
constexpr rlim_t descriptors_wanted = 4096;

struct Limit {
    __rlimit_resource_t resource;
    const char* what;
};
/// Those without which nothing is missed.
constexpr std::array no_limit_wanted{
    Limit{RLIMIT_AS, "address space is limited to {} bytes"},
    Limit{RLIMIT_DATA, "its data is limited to {} bytes"},
    Limit{RLIMIT_FSIZE, "files are limited to {} bytes"},
    Limit{RLIMIT_CPU, "CPU time is limited to {} seconds, then it is killed"},
};

void raise_to_hard(__rlimit_resource_t resource) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(resource, &limit);
}

void set_soft(__rlimit_resource_t resource, rlim_t wanted) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0) return;
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    setrlimit(resource, &limit);
}

void reset_limits() {
    for (const auto& [resource, what] : no_limit_wanted) {
        const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
        if (setrlimit(resource, &none) != 0) raise_to_hard(resource);
    }
    for (const auto resource : {RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_MEMLOCK, RLIMIT_SIGPENDING}) {
        raise_to_hard(resource);
    }
    set_soft(RLIMIT_STACK, stack_default);
    set_soft(RLIMIT_CORE, 0);
}

void reset_affinity() {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &all);
    // The kernel leaves out what does not exist or belongs to another cpuset.
    sched_setaffinity(0, sizeof all, &all);
}

void reset_oom_score() {
    const Fd file{open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)};
    if (file) (void)!write(file.get(), "0", 1);
}

int oom_score() {
    const auto text = read_small_file("/proc/self/oom_score_adj").value_or("0");
    int score = 0;
    std::from_chars(text.data(), text.data() + text.size(), score);
    return score;
}

void describe_priority(std::vector<std::string>& found) {
    if (const int nice = getpriority(PRIO_PROCESS, 0); nice > 0) {
        found.push_back(fmt::format("runs at niceness {}", nice));
    }
    if (const int policy = sched_getscheduler(0); policy == SCHED_IDLE || policy == SCHED_BATCH) {
        found.push_back(fmt::format("runs under the scheduling policy {}",
                                    policy == SCHED_IDLE ? "SCHED_IDLE" : "SCHED_BATCH"));
    }
    const auto io = syscall(SYS_ioprio_get, ioprio_of_process, 0);
    if (io >= 0 && io >> ioprio_class_shift == ioprio_class_idle) {
        found.emplace_back("its disk accesses wait for everybody else's (I/O class idle)");
    }
    if (const int score = oom_score(); score > 0) {
        found.push_back(fmt::format("the OOM killer prefers it (oom_score_adj {})", score));
    }
}

}  // namespace

void reset_process_limits() {
    const sched_param none{};
    sched_setscheduler(0, SCHED_OTHER, &none);
    setpriority(PRIO_PROCESS, 0, 0);
    syscall(SYS_ioprio_set, ioprio_of_process, 0, 0);
    reset_affinity();
    reset_oom_score();
    reset_limits();
}

std::vector<std::string> describe_process_limits(bool with_priority) {
    std::vector<std::string> found;
    if (with_priority) describe_priority(found);
    rlimit limit{};
    for (const auto& [resource, what] : no_limit_wanted) {
        if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) continue;
        found.push_back(fmt::format(fmt::runtime(what), limit.rlim_cur));
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < descriptors_wanted) {
        found.push_back(fmt::format("may open {} files only", limit.rlim_cur));
    }
    return found;
}

}  // namespace knell
