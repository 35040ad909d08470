#include "net/outbox.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/release.hpp"

namespace knell::net {

namespace {

/// Of a message that is half sent, so much is kept to be finished: what follows can be read then.
constexpr std::size_t finish_message_bytes_max = 256U << 10U;
constexpr std::size_t idle_buffer_bytes_max = 64U << 10U;

}  // namespace

Outbox::Outbox(Sink& sink, const wire::Framing& framing, MemoryBudget& unsent_of_all,
               std::chrono::milliseconds patience)
    : sink_(sink),
      framing_(framing),
      patience_(patience),
      share_(unsent_of_all),
      last_sent_(framing.end) {}

void Outbox::put(std::string_view messages) {
    if (is_closed_ || is_refused_) return;
    if (unsent_.size() + messages.size() > limits::unsent_bytes_max) {
        return refuse(
            fmt::format("{} bytes of answers are waiting for you, and {} more came; at "
                        "most {} are kept. Closing: read answers before you ask for more",
                        unsent_.size(), messages.size(), limits::unsent_bytes_max));
    }
    put_any(messages);
}

void Outbox::put_any(std::string_view messages) {
    unsent_ += messages;
    share_.set(unsent_.size());
    if (std::exchange(is_due_, true)) return;
    sink_.flush_soon();
}

void Outbox::finish(const Error& why) {
    if (is_closed_) return;
    std::string message;
    framing_.append_error(message, why);
    put_any(message);
    sink_.close_when_sent();
}

void Outbox::refuse(std::string why) {
    if (std::exchange(is_refused_, true)) return;
    finish({ErrorCode::limit, std::move(why), {}, {}});
}

void Outbox::give_up() {
    std::size_t kept = 0;
    if (!is_between_messages()) {
        const auto end = unsent_.find(framing_.end);
        kept = end == std::string::npos ? end : end + framing_.end.size();
    }
    if (kept > finish_message_bytes_max || is_refused_) return sink_.close();
    std::string(unsent_, 0, kept).swap(unsent_);  // the memory goes, too
    share_.set(unsent_.size());
    refuse(
        fmt::format("all clients together leave more than {} bytes of answers unread, and this "
                    "one the most. Closing: read answers before you ask for more",
                    limits::unsent_bytes_all_max));
}

void Outbox::flush() {
    is_due_ = false;
    if (is_closed_) return;
    while (!unsent_.empty()) {
        const auto taken = sink_.take(unsent_);
        if (!taken) {
            sink_.close();
            break;
        }
        if (*taken == 0) break;
        sent(*taken);
    }
    share_.set(unsent_.size());
    if (!unsent_.empty()) {
        is_due_ = true;
        sink_.flush_when_it_fits(patience_);
    } else if (unsent_.capacity() > idle_buffer_bytes_max) {
        release(unsent_);
    }
    sink_.on_flushed();
}

void Outbox::sent(std::size_t bytes) {
    const auto kept = framing_.end.size();
    last_sent_ += std::string_view(unsent_).substr(bytes < kept ? 0 : bytes - kept,
                                                   bytes < kept ? bytes : kept);
    last_sent_.erase(0, last_sent_.size() - kept);
    unsent_.erase(0, bytes);
}

void Outbox::close() {
    is_closed_ = true;
    release(unsent_);
    share_.set(0);
}

void Outbox::check_invariants() const {
    CHECK(share_.held() == unsent_.size());
    CHECK(last_sent_.size() == framing_.end.size());
    CHECK(unsent_.empty() || (is_due_ && !is_closed_));
}

}  // namespace knell::net
