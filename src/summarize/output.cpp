#include "summarize/output.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/visible.hpp"
#include "core/limits.hpp"

namespace knell {

namespace {

constexpr int lines_max = 3;
/// With room for blanks, which are not told.
constexpr std::size_t tail_bytes_max = 4 * limits::summary_stderr_bytes_max;
constexpr std::string_view between = "; ";

}  // namespace

std::expected<std::string, std::string> judge_output(std::string_view output,
                                                     std::int64_t content_bytes) {
    if (output.size() > limits::summary_bytes_max) {
        return std::unexpected(
            fmt::format("printed more than {} KiB", limits::summary_bytes_max >> 10U));
    }
    if (!is_utf8(output)) return std::unexpected("printed something that is not UTF-8");
    const auto summary = trimmed(output);
    if (!is_visible(summary)) return std::unexpected("printed nothing");
    const auto bytes = static_cast<std::int64_t>(summary.size());
    if (bytes >= content_bytes) {
        return std::unexpected(fmt::format(
            "its summary of {} bytes is not shorter than the {} bytes that it would replace", bytes,
            content_bytes));
    }
    return std::string(summary);
}

void ErrorTail::append(std::string_view bytes) {
    if (bytes.size() > tail_bytes_max) bytes.remove_prefix(bytes.size() - tail_bytes_max);
    tail_ += bytes;
    if (tail_.size() > tail_bytes_max) tail_.erase(0, tail_.size() - tail_bytes_max);
}

std::string ErrorTail::last_lines() const {
    std::string lines;
    auto rest = trimmed(tail_);
    for (int count = 0; count < lines_max && !rest.empty(); ++count) {
        const auto before = rest.rfind('\n');
        const auto start = before == std::string_view::npos ? 0 : before + 1;
        auto line = printable_line(rest.substr(start));
        rest = trimmed(rest.substr(0, start));
        if (lines.empty()) {
            // The last is told in any case, if only its beginning.
            lines = cut_text(line, limits::summary_stderr_bytes_max);
            continue;
        }
        if (line.size() + between.size() + lines.size() > limits::summary_stderr_bytes_max) break;
        lines = std::move(line.append(between).append(lines));
    }
    return lines;
}

}  // namespace knell
