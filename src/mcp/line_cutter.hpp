#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace knell::mcp {

/// Cuts bytes into lines, in bounded memory: of a line that is too long nothing is kept.
class LineCutter {
  public:
    explicit LineCutter(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

    void add(std::string_view bytes);

    enum class Cut : unsigned char { none, line, too_long };
    /// The next whole line, without its newline, in `line`; `too_long` stands for one, too.
    Cut next(std::string& line);

  private:
    void drop_taken();

    const std::size_t line_bytes_max_;
    std::string bytes_;
    std::size_t taken_ = 0;     // of `bytes_`
    std::size_t searched_ = 0;  // no newline between `taken_` and here
    bool skipping_ = false;     // until the end of a line that was too long
};

}  // namespace knell::mcp
