#include "functional/harness/daemon.hpp"

#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>

#include "functional/harness/waiting.hpp"

namespace knell::functional {

Daemon::Daemon(const TempHome& home, const DaemonLimits& limits) : home_(home) {
    start(limits);
}

void Daemon::start(const DaemonLimits& limits) {
    launch(limits);
    wait_until_it_listens();
}

void Daemon::launch(const DaemonLimits& limits) {
    Pipe pipe;
    ::fcntl(pipe.writing.get(), F_SETPIPE_SZ, 1 << 20);  // room for what nobody reads meanwhile
    ::fcntl(pipe.reading.get(), F_SETFL, O_NONBLOCK);
    auto spawn = home_.command({"up"});
    spawn.err = pipe.writing.get();
    spawn.descriptors_max = limits.descriptors_max;
    spawn.file_bytes_max = limits.file_bytes_max;
    spawn.refused_calls = limits.refused_calls;
    spawn.refused_with = limits.refused_with;
    log_.clear();
    process_.reset();
    process_.emplace(spawn);
    log_pipe_ = std::move(pipe.reading);
}

void Daemon::wait_for_log(std::string_view text) {
    while (!log_.contains(text)) {
        wait_for(log_pipe_.get(), POLLIN, "a line in the daemon's log");
        if (!read_available(log_pipe_.get(), log_)) {
            throw std::runtime_error("the daemon ended before it said \"" + std::string(text) +
                                     "\"; its log:\n" + log_);
        }
    }
}

const std::string& Daemon::log() {
    for (;;) {
        pollfd watched{.fd = log_pipe_.get(), .events = POLLIN, .revents = 0};
        if (::poll(&watched, 1, 0) <= 0 || !read_available(log_pipe_.get(), log_)) return log_;
    }
}

void Daemon::listen() {
    constexpr int moment_ms = 20;
    pollfd watched{.fd = log_pipe_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&watched, 1, moment_ms) > 0) read_available(log_pipe_.get(), log_);
}

void Daemon::kill9() {
    process_->signal(SIGKILL);
    process_->wait();
}

int Daemon::terminate() {
    process_->signal(SIGTERM);
    return process_->wait();
}

void Daemon::restart() {
    kill9();
    start();
}

Outcome refused_start(const TempHome& home) {
    return home.knell({"up"});
}

}  // namespace knell::functional
