#include "victim.hpp"

#include <csignal>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "must.hpp"
#include "platform/fd.hpp"
#include "platform/pidfd.hpp"
#include "samples.hpp"

namespace knell::bench {

Victim::Victim() : pid_(fork()) {
    must(pid_ >= 0, "fork");
    if (pid_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
}

Victim::~Victim() {
    kill();
    waitpid(pid_, nullptr, 0);
}

void Victim::kill() const {
    ::kill(pid_, SIGKILL);
}

double pidfd_wake_up_us() {
    const Victim victim;
    const Fd pidfd{pidfd_open(victim.pid(), 0)};
    must(static_cast<bool>(pidfd), "pidfd_open");
    pollfd look{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
    const auto start = seconds_now();
    victim.kill();
    must(poll(&look, 1, 10'000) == 1, "poll");
    return (seconds_now() - start) * 1e6;
}

}  // namespace knell::bench
