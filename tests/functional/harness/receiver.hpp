#pragma once

#include <optional>
#include <string>

#include "functional/harness/process.hpp"
#include "wire/json.hpp"

namespace knell::functional {

/// Why there can be no receiver on this machine; nothing when there can.
std::optional<std::string> why_no_receiver();

/// tests/receivers/receiver.mjs: a webhook receiver that checks every request with the packages
/// that others use.  The first one installs them into the build tree.  Ends when this goes.
class Receiver {
  public:
    /// `mode` is as receiver.mjs has it: ok, fail=N, gone, busy, hang.
    explicit Receiver(const std::string& secret, const std::string& mode = "ok");

    /// "http://127.0.0.1:PORT" and `path`.
    std::string url(const std::string& path = "/") const;
    /// Waits for the next request and gives what the receiver thinks of it.
    Json next();
    /// True when no further request has been told of.
    bool is_quiet();

  private:
    Pipe in_;
    Pipe out_;
    std::string said_;
    std::optional<Process> node_;
    std::int64_t port_ = 0;
};

}  // namespace knell::functional
