#include "testing/marked_process.hpp"

#include <array>
#include <csignal>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace knell::testing {

MarkedProcess::MarkedProcess(std::string_view variable, const MarkedRun& run, pid_t group_off) {
    std::array<int, 2> ready{};
    if (::pipe2(ready.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
        ::setsid();
        const auto mark =
            fmt::format("{}={}{}", variable, text_before_group(run), ::getpid() + group_off);
        ::execle("/bin/sleep", "sleep", "1000", nullptr,
                 std::array{mark.c_str(), static_cast<const char*>(nullptr)}.data());
        ::_exit(1);
    }
    ::close(ready[1]);
    char byte = 0;
    const auto got = ::read(ready[0], &byte, 1);  // until it has executed
    ::close(ready[0]);
    if (got != 0) throw std::runtime_error("it did not start");
}

MarkedProcess::~MarkedProcess() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
}

void MarkedProcess::wait() {
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
}

}  // namespace knell::testing
