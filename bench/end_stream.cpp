#include "end_stream.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include "must.hpp"
#include "samples.hpp"

namespace knell::bench {

namespace {

constexpr std::size_t buffer_bytes = 256U << 10U;
constexpr std::size_t digit_count = 7;

}  // namespace

EndStream::EndStream(Fd socket, std::string marker, Framing framing)
    : socket_(std::move(socket)),
      marker_(std::move(marker)),
      framing_(framing),
      in_headers_(framing == Framing::http_chunks),
      buffer_(buffer_bytes) {}

std::string EndStream::digits_of(std::size_t number) {
    return fmt::format("{:0{}}", number, digit_count);
}

void EndStream::expect(std::size_t first, std::size_t count) {
    first_ = first;
    heard_ = 0;
    heard_at_.assign(count, 0);
}

void EndStream::read_for(double seconds) {
    const auto until = seconds_now() + seconds;
    while (!is_complete()) {
        const auto left = std::max(until - seconds_now(), 0.0);
        pollfd look{.fd = socket_.get(), .events = POLLIN, .revents = 0};
        const auto ready = poll(&look, 1, static_cast<int>(left * 1e3));
        must(ready >= 0, "waiting for ends");
        if (ready == 0) {
            if (left < 1e-3) return;
            continue;
        }
        const auto size = recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
        must(size > 0, "the stream of ends was closed");
        const auto now = seconds_now();
        auto& target = framing_ == Framing::plain ? text_ : raw_;
        target.append(buffer_.data(), static_cast<std::size_t>(size));
        if (framing_ == Framing::http_chunks) take_chunks();
        take_text(now);
    }
}

void EndStream::take_chunks() {
    std::size_t at = 0;
    if (in_headers_) {
        const auto end = raw_.find("\r\n\r\n");
        if (end == std::string::npos) return;
        in_headers_ = false;
        at = end + 4;
    }
    for (;;) {
        const auto line_end = raw_.find("\r\n", at);
        if (line_end == std::string::npos) break;
        std::size_t size = 0;
        std::from_chars(raw_.data() + at, raw_.data() + line_end, size, 16);
        if (raw_.size() < line_end + 2 + size + 2) break;
        text_.append(raw_, line_end + 2, size);
        at = line_end + 2 + size + 2;
    }
    raw_.erase(0, at);
}

void EndStream::take_text(double now) {
    const auto size = marker_.size() + digit_count;
    std::size_t done = 0;
    for (auto at = text_.find(marker_); at != std::string::npos; at = text_.find(marker_, done)) {
        if (text_.size() < at + size) {
            text_.erase(0, at);
            return;
        }
        std::size_t number = 0;
        std::from_chars(text_.data() + at + marker_.size(), text_.data() + at + size, number);
        done = at + size;
        const auto index = number - first_;  // wraps around for those before: not awaited
        if (index >= heard_at_.size() || heard_at_[index] > 0) continue;
        heard_at_[index] = now;
        ++heard_;
    }
    // The end of the text may be the beginning of a marker.
    const auto keep = std::min(text_.size() - done, marker_.size() - 1);
    text_.erase(0, text_.size() - keep);
}

}  // namespace knell::bench
