#include "deliver/hook/output.hpp"

#include "base/text.hpp"
#include "core/limits.hpp"

namespace knell {

namespace {

/// Enough for the longest line that is quoted, and for blanks after it.
constexpr std::size_t tail_bytes_max = 4 * limits::hook_line_bytes_max;

}  // namespace

void HookOutput::append(std::string_view bytes) {
    head_ += bytes.substr(0, limits::hook_output_bytes_max - head_.size());
    if (bytes.size() >= tail_bytes_max) {
        tail_ = bytes.substr(bytes.size() - tail_bytes_max);
        return;
    }
    tail_ += bytes;
    if (tail_.size() > tail_bytes_max) tail_.erase(0, tail_.size() - tail_bytes_max);
}

std::string HookOutput::text() const {
    return printable_text(head_);
}

std::string HookOutput::last_line() const {
    const auto said = trimmed(tail_);
    const auto before = said.rfind('\n');
    const auto line = before == std::string_view::npos ? said : said.substr(before + 1);
    return std::string{cut_text(printable_line(line), limits::hook_line_bytes_max)};
}

}  // namespace knell
