#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <curl/curl.h>

#include "base/time.hpp"
#include "deliver/rendered_event.hpp"

namespace knell {

/// What a receiver says in the head of its answer, line by line as it comes.  It is a stranger's
/// text: bounded here, and made fit to be shown.
class ResponseHead {
  public:
    /// False when there is more than anybody needs: stop listening.
    bool add_line(std::string_view line);

    /// Nothing until there is an answer; a 1xx is none.
    std::optional<int> status() const { return status_; }
    bool is_too_large() const;
    /// Where a redirect leads, fit to be shown; "" when it does not say.
    const std::string& location() const { return location_; }
    /// How long the receiver asks us to wait, bounded; nothing when it does not, or when the time
    /// is over already.
    std::optional<std::chrono::seconds> retry_after(WallTime now) const;

  private:
    void begin(std::string_view status_line);

    std::size_t bytes_ = 0;
    std::optional<int> status_;
    std::string location_;
    std::string retry_after_;
};

/// How the transfer itself ended, as libcurl has it.
struct TransferEnd {
    CURLcode code = CURLE_OK;
    std::string error;    // libcurl's words for it, where it has any
    std::string refused;  // an address that we would not connect to, and why
    bool was_connected = false;
    std::chrono::seconds timeout{0};
};

/// How the attempt went.  The receiver's word is its status: once that has come, it does not matter
/// what becomes of the rest of its answer.
Outcome outcome_of(const ResponseHead& head, const TransferEnd& end, WallTime now);

}  // namespace knell
