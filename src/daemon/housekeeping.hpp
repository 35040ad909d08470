#pragma once

#include <functional>
#include <string>

#include "daemon/claims.hpp"
#include "net/server.hpp"

namespace knell {

/// SIGHUP waits from here on until `Housekeeping::start`, so that it never kills a daemon that is
/// still starting.  Ignored, as under nohup, it stays so.  Before there are other threads.
void hold_hangup();

/// Keeps the daemon reachable: its socket, its locks, its log, and what SIGHUP means.  On the
/// loop's thread.
class Housekeeping {
  public:
    /// `reload` reads the config and the hooks again.
    Housekeeping(Claims& claims, net::EventLoop& loop, net::Server& server,
                 std::function<void()> reload);

    Result<void> listen() { return server_.listen(claims_.address()); }
    void start();
    /// After the loop has stopped.
    void remove_socket() { claims_.address().remove(); }

    /// Why the loop stopped: "on request", or what else.
    std::string why_stopped() const;

  private:
    void look();
    void take_hangup();
    bool stop_without_terminal();
    void keep_claims();

    Claims& claims_;
    net::EventLoop& loop_;
    net::Server& server_;
    const std::function<void()> reload_;
    const bool had_terminal_;
    bool hung_up_ = false;
    bool lost_terminal_ = false;
    std::string unreachable_because_;  // what was said of it last
};

}  // namespace knell
