#include "cli/pager.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/environment.hpp"

namespace knell::cli {

namespace {

constexpr auto pager_default = "less -FRX";

/// Unset is not empty here: who sets it to nothing wants none.
std::string pager_of_the_environment() {
    const auto* pager = std::getenv("PAGER");  // NOLINT(concurrency-mt-unsafe): one thread
    return pager == nullptr ? pager_default : pager;
}

}  // namespace

std::vector<std::string> pager_argv(const std::string& pager) {
    constexpr std::string_view for_a_shell = "|&;<>()$`\\\"'*?[]#~=%{}!";
    if (pager.find_first_of(for_a_shell) != std::string::npos) return {"sh", "-c", pager};
    std::vector<std::string> words;
    std::istringstream stream(pager);
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

Pager::Pager(const Terminal& output) {
    // One that cannot move its cursor is asked to press a key for each screen.
    const auto term = environment_variable("TERM");
    if (!output.interactive || term.empty() || term == "dumb") return;
    auto argv = pager_argv(pager_of_the_environment());
    if (argv.empty() || argv.front() == "cat") return;
    // less alone shows colours as text and stays when all fits.
    ::setenv("LESS", "FRX", /*overwrite=*/0);  // NOLINT(concurrency-mt-unsafe)
    int ends[2] = {-1, -1};                    // NOLINT(modernize-avoid-c-arrays): pipe2(2)
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    const Fd reading(ends[0]);
    const Fd writing(ends[1]);
    Fd terminal(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!terminal) return;
    const auto name = argv.front();
    auto pager = spawn({.program = ProgramOnPath{name},
                        .argv = std::move(argv),
                        .descriptors = {{.ours = reading.get(), .theirs = STDIN_FILENO}}});
    if (!pager) return;  // printed as it is
    (void)std::fflush(stdout);
    if (::dup2(writing.get(), STDOUT_FILENO) < 0) return;
    // Ctrl-C is for the pager, and it may leave before all is written.
    (void)std::signal(SIGINT, SIG_IGN);
    (void)std::signal(SIGPIPE, SIG_IGN);
    pager_ = std::move(*pager);
    terminal_ = std::move(terminal);
}

Pager::~Pager() {
    if (!pager_) return;
    (void)std::fflush(stdout);
    std::clearerr(stdout);
    (void)::dup2(terminal_.get(), STDOUT_FILENO);  // the pipe's last end: its reader is at the end
    while (::waitpid(pager_->pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace knell::cli
