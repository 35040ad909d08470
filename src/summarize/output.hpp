#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace knell {

/// What a provider printed, judged: the summary, without the blanks around it, or why it is none.
/// Pure.
std::expected<std::string, std::string> judge_output(std::string_view output,
                                                     std::int64_t content_bytes);

/// Of what a provider printed to its standard error the end, which says what went wrong.  Costs the
/// same however much is printed.
class ErrorTail {
  public:
    void append(std::string_view bytes);

    /// The last lines that are not blank on one, at most `limits::summary_stderr_bytes_max` bytes
    /// of text; "" for none.
    std::string last_lines() const;

  private:
    std::string tail_;
};

}  // namespace knell
