#pragma once

#include <string>
#include <string_view>

namespace knell {

/// What a hook printed, as far as it is worth keeping: the beginning, which a person reads, and the
/// last line, which usually says what went wrong.  Costs the same however much is printed.
class HookOutput {
  public:
    void append(std::string_view bytes);

    /// The first `limits::hook_output_bytes_max` bytes as text: UTF-8 without control characters
    /// other than tabs and line ends, so that it can be stored, sent and shown.
    std::string text() const;

    /// The last line that is not blank, at most `limits::hook_line_bytes_max` bytes; "" for none.
    std::string last_line() const;

  private:
    std::string head_;
    std::string tail_;
};

}  // namespace knell
