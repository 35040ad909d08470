#include "platform/child_plan.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <limits>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.hpp"
#include "platform/process_limits.hpp"

namespace knell {

namespace {

constexpr std::size_t pid_digits = 10;
constexpr int first_other_fd = STDERR_FILENO + 1;

int look_up_descriptors_max() {
    constexpr rlim_t looked_at_max = 65'536;
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    return static_cast<int>(std::min(limit.rlim_cur, looked_at_max));
}

int first_free_of(const ChildSpec& spec) {
    int first = first_other_fd;
    for (const auto& placed : spec.descriptors) first = std::max(first, placed.theirs + 1);
    for (const auto number : spec.null_descriptors) first = std::max(first, number + 1);
    return first;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (auto& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

void place_null(int number) {
    const int null = open("/dev/null", O_RDWR);  // NOLINT: it is to be inherited
    if (null < 0 || null == number) return;
    dup2(null, number);
    close(null);
}

}  // namespace

bool reset_signals() {
    struct sigaction action{};
    action.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &action, nullptr);
    sigset_t none;
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, nullptr) == 0;
}

ChildPlan::ChildPlan(ChildSpec spec)
    : parent_(getpid()),
      descriptors_max_(look_up_descriptors_max()),
      spec_(std::move(spec)),
      first_free_(first_free_of(spec_)),
      argv_(pointers_to(spec_.argv)) {
    CHECK(!spec_.argv.empty());
    if (!spec_.environment) return;
    auto& environment = *spec_.environment;
    // Before anything points into them, as they move while there come more.
    environment.reserve(environment.size() + 2);
    if (!spec_.pid_variable.empty()) {
        auto& entry = environment.emplace_back(std::move(spec_.pid_variable));
        entry.append(pid_digits, '0');
        pid_place_ = entry.data() + entry.size() - pid_digits;
    }
    if (!spec_.late_variable.empty()) {
        auto& entry = environment.emplace_back(std::move(spec_.late_variable) + '=');
        entry.append(late_value_max, '\0');
        late_place_ = entry.data() + entry.size() - late_value_max;
    }
    environment_ = pointers_to(environment);
}

SpawnFailure ChildPlan::become() {
    if (const auto failed = prepare()) return *failed;
    return execute();
}

std::optional<SpawnFailure> ChildPlan::prepare() {
    if (const auto failed = try_to_prepare()) return SpawnFailure{*failed, errno};
    return std::nullopt;
}

SpawnFailure ChildPlan::execute(std::string_view late_value) {
    if (late_place_ != nullptr) set_late_value(late_value);
    try_to_execute();
    return {SpawnStep::program, errno};
}

/// The step that failed; errno says why.
std::optional<SpawnStep> ChildPlan::try_to_prepare() {
    if (!join_group()) return SpawnStep::group;
    if (spec_.death_signal != 0 && !ask_for_death_signal()) return SpawnStep::death_signal;
    if (spec_.resets_limits) reset_process_limits();
    if (spec_.umask) umask(*spec_.umask);
    if (!enter_directory()) return SpawnStep::directory;
    // Before others are put there: those are to stay.
    if (spec_.closes_others) close_others_at_exec();
    if (!place_descriptors()) return SpawnStep::descriptors;
    if (pid_place_ != nullptr) write_pid();
    // Last: from here on a signal ends it.
    if (spec_.resets_signals && !reset_signals()) return SpawnStep::signals;
    return std::nullopt;
}

bool ChildPlan::join_group() const {
    if (spec_.group == ChildSpec::Group::own) return setpgid(0, 0) == 0;
    if (spec_.group == ChildSpec::Group::own_session) return setsid() >= 0;
    return true;
}

bool ChildPlan::ask_for_death_signal() const {
    if (prctl(PR_SET_PDEATHSIG, spec_.death_signal) != 0) return false;
    // untestable: the parent was killed before the child had asked to be told
    if (getppid() != parent_) _exit(1);
    return true;
}

bool ChildPlan::enter_directory() const {
    if (spec_.directory >= 0 && fchdir(spec_.directory) != 0) return false;
    return spec_.directory_path.empty() || chdir(spec_.directory_path.c_str()) == 0;
}

/// Whatever else we have open, a store and its lock or a pipe somebody reads to its end, would be
/// held for as long as the program lives.
void ChildPlan::close_others_at_exec() const {
    if (close_range(first_other_fd, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
    for (int fd = first_other_fd; fd < descriptors_max_; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

std::vector<int> ChildPlan::needed_descriptors(std::vector<int> own) const {
    for (const auto& placed : spec_.descriptors) own.push_back(placed.ours);
    if (spec_.directory >= 0) own.push_back(spec_.directory);
    if (const auto* in = std::get_if<ProgramIn>(&spec_.program)) own.push_back(in->directory);
    std::erase_if(own, [](int fd) { return fd < first_other_fd; });
    std::ranges::sort(own);
    return own;
}

void ChildPlan::close_all_but(const std::vector<int>& ordered) const {
    int first = first_other_fd;
    for (const auto kept : ordered) {
        if (kept > first) close_from(first, kept - 1);
        first = kept + 1;
    }
    close_from(first, std::numeric_limits<int>::max());
}

void ChildPlan::close_from(int first, int last) const {
    if (close_range(static_cast<unsigned>(first), static_cast<unsigned>(last), 0) == 0) return;
    for (int fd = first; fd <= std::min(last, descriptors_max_); ++fd) close(fd);
}

bool ChildPlan::place_descriptors() {
    // Out of the way first: one may stand where another is put.
    for (auto& placed : spec_.descriptors) {
        if (placed.ours >= first_free_) continue;
        placed.ours = fcntl(placed.ours, F_DUPFD_CLOEXEC, first_free_);
        if (placed.ours < 0) return false;
    }
    for (const auto number : spec_.null_descriptors) place_null(number);
    return std::ranges::all_of(spec_.descriptors, [](const auto& placed) {
        return dup2(placed.ours, placed.theirs) >= 0;
    });
}

void ChildPlan::write_pid() const {
    auto pid = getpid();
    for (auto i = pid_digits; i > 0; --i, pid /= 10) {
        pid_place_[i - 1] = static_cast<char>('0' + pid % 10);
    }
}

void ChildPlan::set_late_value(std::string_view value) {
    std::ranges::copy(value.substr(0, late_value_max), late_place_);
}

void ChildPlan::try_to_execute() const {
    auto* const* environment = environment_.empty() ? environ : environment_.data();
    if (const auto* at = std::get_if<ProgramAt>(&spec_.program)) {
        execve(at->path.c_str(), argv_.data(), environment);
    } else if (const auto* in = std::get_if<ProgramIn>(&spec_.program)) {
        syscall(SYS_execveat, in->directory, in->name.c_str(), argv_.data(), environment,
                AT_SYMLINK_NOFOLLOW);
    } else if (const auto* named = std::get_if<ProgramOnPath>(&spec_.program)) {
        execvpe(named->name.c_str(), argv_.data(), environment);
    }
}

}  // namespace knell
