#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "client/deadline.hpp"
#include "core/error.hpp"
#include "platform/fd.hpp"
#include "wire/json.hpp"

namespace knell::client {

inline constexpr std::chrono::milliseconds call_timeout_default{10'000};
/// A page of events is a few megabytes; past this the daemon is not one of ours.
inline constexpr std::size_t answer_bytes_max = 64U << 20U;

/// A connection to a daemon: one call at a time, blocking, one thread.
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

  private:
    Connection(std::string socket, Fd fd) : socket_(std::move(socket)), fd_(std::move(fd)) {}

    Result<void> send_line(std::string_view line, std::string_view method,
                           const Deadline& deadline);
    Result<std::string> receive_line(std::string_view method, const Deadline& deadline);
    std::unexpected<Error> lost(std::string_view method);
    std::unexpected<Error> too_late(std::string_view method);

    std::string socket_;
    Fd fd_;
    std::string received_;  // past the last line that was taken
    std::int64_t last_id_ = 0;
};

}  // namespace knell::client
