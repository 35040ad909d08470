#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "client/deadline.hpp"
#include "core/error.hpp"
#include "platform/fd.hpp"
#include "wire/json.hpp"

namespace knell::client {

inline constexpr std::chrono::milliseconds call_timeout_default{10'000};
/// The daemon answers when a summary is there; every provider has a time limit of its own.
inline constexpr std::chrono::hours compress_timeout{2};

/// How long to wait for the answer of that method.
constexpr std::chrono::milliseconds call_timeout_of(std::string_view method) {
    return method == "session.compress" ? compress_timeout : call_timeout_default;
}

/// A page of events is a few megabytes; past this the daemon is not one of ours.
inline constexpr std::size_t answer_bytes_max = 64U << 20U;

/// A connection to a daemon: one call at a time, blocking, one thread; and what the daemon tells on
/// its own once it was asked to.
///
/// After `unreachable` it is closed, because a late answer would be taken for the next one's: open
/// another.
class Connection {
  public:
    static Result<Connection> open(const std::string& socket, const Deadline& deadline);
    static Result<Connection> open(const std::string& socket) {
        return open(socket, Deadline{call_timeout_default});
    }

    /// The result, or the daemon's error.
    Result<Json> call(std::string_view method, const JsonObject& params);
    Result<Json> call(std::string_view method, const JsonObject& params, const Deadline& deadline);
    /// As above where the contract says that results are objects.
    Result<JsonObject> call_object(std::string_view method, const JsonObject& params);
    /// The whole answer: an object with `result` or `error`.
    Result<JsonObject> call_raw(std::string_view method, const JsonObject& params,
                                const Deadline& deadline);

    /// The next thing that the daemon told on its own, an object with `method` and `params`, if it
    /// is here already.  Does not wait: poll `fd` for reading when there is none.
    Result<std::optional<JsonObject>> take_notification();
    int fd() const { return fd_.get(); }
    /// The process that listens, as this one sees it; 0 when it cannot.
    pid_t peer() const;

  private:
    Connection(std::string socket, Fd fd) : socket_(std::move(socket)), fd_(std::move(fd)) {}

    Result<void> send_line(std::string_view line, std::string_view method,
                           const Deadline& deadline);
    Result<std::string> receive_line(std::string_view method, const Deadline& deadline);
    /// A whole line of what was received, if there is one.
    std::optional<std::string> next_line();
    enum class Received : std::uint8_t { something, nothing_yet, the_end };
    Received receive_some();
    Result<void> keep(std::string&& line);
    std::unexpected<Error> lost(std::string_view method);
    std::unexpected<Error> too_late(std::string_view method);
    std::unexpected<Error> not_json_rpc();

    std::string socket_;
    Fd fd_;
    std::string received_;
    std::size_t taken_ = 0;         // of `received_`, in whole lines
    std::size_t searched_ = 0;      // no line ends between `taken_` and here
    std::deque<std::string> told_;  // while a call waited for its answer
    std::size_t told_bytes_ = 0;
    std::int64_t last_id_ = 0;
};

}  // namespace knell::client
