#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "platform/fd.hpp"

namespace knell {

/// Who started this process as a service, such as systemd: what it handed over, and how it is told
/// how things are (sd_listen_fds(3), sd_notify(3)).  Nobody, where the environment names none: then
/// all of this does nothing.  One thread.
class Supervisor {
  public:
    Supervisor() = default;
    /// Takes its variables out of the environment, so that nothing that is started inherits them.
    /// Before there are other threads.
    static Supervisor from_environment();

    bool is_there() const { return !notify_socket_.empty(); }
    /// A socket that listens already, if one was handed over; once.  An error where it is more than
    /// one, or no stream socket that listens.
    Result<std::optional<Fd>> take_listener();
    /// How often it wants to hear that we are alive: half of what it waits for at most.
    std::optional<std::chrono::microseconds> watchdog() const { return watchdog_; }

    /// "READY=1", "WATCHDOG=1", "STOPPING=1".  One that does not listen is no trouble of ours.
    void tell(std::string_view state) const;

  private:
    std::string notify_socket_;
    std::optional<std::chrono::microseconds> watchdog_;
    int listeners_ = 0;
};

/// The path that a unix socket listens at; "" where that cannot be told.
std::string path_of_listener(int socket);

}  // namespace knell
