#include "daemon/housekeeping.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <utility>

#include <pthread.h>

#include "platform/log.hpp"
#include "platform/terminal.hpp"

namespace knell {

namespace {

/// A daemon whose socket was deleted is unreachable for about this long.
constexpr std::chrono::seconds look_period{1};

void set_hangup(int how) {
    sigset_t hangup;
    sigemptyset(&hangup);
    sigaddset(&hangup, SIGHUP);
    pthread_sigmask(how, &hangup, nullptr);
}

}  // namespace

void hold_hangup() {
    set_hangup(SIG_BLOCK);
}

Housekeeping::Housekeeping(Claims& claims, net::EventLoop& loop, net::Server& server,
                           std::function<void()> reload)
    : claims_(claims),
      loop_(loop),
      server_(server),
      reload_(std::move(reload)),
      had_terminal_(has_controlling_terminal()) {}

void Housekeeping::start() {
    keep_claims();
    loop_.every(look_period, [this] { look(); });
    loop_.on_hangup([this] { take_hangup(); });
    set_hangup(SIG_UNBLOCK);
}

void Housekeeping::look() {
    keep_log_in_place();  // logrotate and cleaners say nothing
    // A shell that exits normally hangs up on its jobs before its terminal goes.
    if (hung_up_ && stop_without_terminal()) return;
    keep_claims();
}

/// The terminal of a foreground daemon is gone, or somebody wants the config to be read.
void Housekeeping::take_hangup() {
    hung_up_ = true;
    if (stop_without_terminal()) return;
    keep_log_in_place();
    log_info("SIGHUP: reading config.yaml and the hooks again");
    reload_();
}

bool Housekeeping::stop_without_terminal() {
    if (!had_terminal_ || has_controlling_terminal()) return false;
    if (!std::exchange(lost_terminal_, true)) log_warn("the terminal was closed: stopping");
    loop_.stop();
    return true;
}

void Housekeeping::keep_claims() {
    if (auto kept = claims_.keep_store(); !kept) {
        // A planned stop would write once more.  This is as a crash: the record is complete.
        log_error("{}; this daemon ends at once, to keep two from writing to one store",
                  kept.error().message);
        std::_Exit(1);
    }
    const auto bound = server_.keep_listening();
    if (bound && *bound) {
        log_warn("the socket was gone: bound again at {}", claims_.address().path());
    }
    if (!bound && bound.error().message != unreachable_because_) {
        log_error("unreachable, trying again every second: {}", bound.error().message);
    }
    unreachable_because_ = bound ? "" : bound.error().message;
}

std::string Housekeeping::why_stopped() const {
    return lost_terminal_ ? "because its terminal was closed" : "on request";
}

}  // namespace knell
