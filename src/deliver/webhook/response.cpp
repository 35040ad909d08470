#include "deliver/webhook/response.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <strings.h>

#include "core/limits.hpp"

namespace knell {

namespace {

using std::chrono::seconds;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Nothing that could break a log line or a terminal.
std::string printable(std::string_view text) {
    std::string clean(text);
    std::ranges::replace_if(clean, [](char c) { return c < 0x20 || c > 0x7e; }, '?');
    return clean;
}

/// The value of a header line when it has that name.
std::optional<std::string_view> value_of(std::string_view line, std::string_view name) {
    if (line.size() <= name.size() || line[name.size()] != ':') return std::nullopt;
    if (strncasecmp(line.data(), name.data(), name.size()) != 0) return std::nullopt;
    return trimmed(line.substr(name.size() + 1));
}

/// "HTTP/1.1 204 No Content" -> 204
std::optional<int> status_in(std::string_view line) {
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    const auto code = line.substr(blank + 1, 3);
    if (code.size() != 3 || !std::ranges::all_of(code, is_digit)) return std::nullopt;
    int status = 0;
    std::from_chars(code.data(), code.data() + code.size(), status);
    return status;
}

/// Delta seconds, or any of the three forms of an HTTP date.
std::optional<seconds> patience_in(const std::string& text, WallTime now) {
    constexpr seconds most = limits::webhook_retry_after_max;
    if (text.empty()) return std::nullopt;
    if (std::ranges::all_of(text, is_digit)) {
        std::int64_t count = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
        return read.ec == std::errc{} ? std::min(seconds{count}, most) : most;
    }
    const auto date = curl_getdate(text.c_str(), nullptr);
    if (date == -1) return std::nullopt;
    const auto now_s = std::chrono::duration_cast<seconds>(now.time_since_epoch()).count();
    return std::min(seconds{std::max<std::int64_t>(date, now_s) - now_s}, most);
}

struct Words {
    CURLcode code;
    std::string_view text;
};
constexpr std::array words_for_failures{
    Words{CURLE_COULDNT_RESOLVE_HOST, "cannot find the host"},
    Words{CURLE_COULDNT_CONNECT, "cannot connect"},
    Words{CURLE_PEER_FAILED_VERIFICATION, "certificate not trusted"},
    Words{CURLE_SSL_CONNECT_ERROR, "cannot agree on TLS"},
    Words{CURLE_SEND_ERROR, "connection lost"},
    Words{CURLE_RECV_ERROR, "connection lost"},
    Words{CURLE_UNSUPPORTED_PROTOCOL, "not an HTTP answer"},
    Words{CURLE_WEIRD_SERVER_REPLY, "not an HTTP answer"},
};

std::string timed_out(const TransferEnd& end) {
    if (end.was_connected) return fmt::format("timed out after {} s", end.timeout.count());
    return fmt::format("no connection within {} s",
                       std::min(end.timeout, limits::webhook_connect_timeout_max).count());
}

/// Why there is no answer at all.
std::string failure_in_words(const ResponseHead& head, const TransferEnd& end) {
    if (head.is_too_large()) {
        return fmt::format("the head of the answer is larger than {} KiB",
                           limits::webhook_head_bytes_max >> 10U);
    }
    if (!end.refused.empty()) return "address refused: " + end.refused;
    if (end.code == CURLE_OK) return "not an HTTP answer";
    if (end.code == CURLE_OPERATION_TIMEDOUT) return timed_out(end);
    if (end.code == CURLE_GOT_NOTHING) return "the connection was closed without an answer";
    auto error = end.error.empty() ? std::string(curl_easy_strerror(end.code)) : end.error;
    const auto* const known = std::ranges::find(words_for_failures, end.code, &Words::code);
    if (known == words_for_failures.end()) return error;
    return fmt::format("{}: {}", known->text, error);
}

}  // namespace

bool ResponseHead::is_too_large() const {
    return bytes_ > limits::webhook_head_bytes_max;
}

bool ResponseHead::add_line(std::string_view line) {
    bytes_ += line.size();
    if (is_too_large()) return false;
    if (line.starts_with("HTTP/")) {
        begin(line);
    } else if (const auto location = value_of(line, "location")) {
        // Without its query, which may hold what is not for a log.
        const auto shown = location->substr(0, location->find_first_of("?#"));
        location_ = printable(shown.substr(0, limits::webhook_location_bytes_max));
    } else if (const auto retry_after = value_of(line, "retry-after")) {
        retry_after_ = *retry_after;
    }
    return true;
}

void ResponseHead::begin(std::string_view status_line) {
    const auto status = status_in(status_line);
    status_ = status && *status >= 200 ? status : std::nullopt;
    location_.clear();
    retry_after_.clear();
}

std::optional<seconds> ResponseHead::retry_after(WallTime now) const {
    const auto patience = patience_in(retry_after_, now);
    // "At once" is no reason to be less patient than we would have been by ourselves.
    return patience && *patience > seconds{0} ? patience : std::nullopt;
}

Outcome outcome_of(const ResponseHead& head, const TransferEnd& end, WallTime now) {
    const auto status = head.status();
    if (!status) return {.what = printable(failure_in_words(head, end))};

    Outcome outcome{.what = fmt::format("HTTP {}", *status)};
    if (*status < 300) {
        outcome.kind = Outcome::Kind::delivered;
        return outcome;
    }
    if (*status == 410) {
        outcome.kind = Outcome::Kind::gone;
        return outcome;
    }
    if (*status < 400) {
        const auto where = head.location().empty() ? "" : " to " + head.location();
        outcome.what = fmt::format("redirects are not followed: HTTP {}{}", *status, where);
    }
    outcome.retry_after = head.retry_after(now);
    return outcome;
}

}  // namespace knell
