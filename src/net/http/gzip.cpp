#include "net/http/gzip.hpp"

#include <algorithm>

#include <zlib.h>

#include "base/text.hpp"
#include "net/http/bounds.hpp"

namespace knell::net::http {

namespace {

constexpr int level = 1;  // most of what can be gained, in a third of the time
constexpr int gzip_window = 15 + 16;
constexpr int memory = 8;

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// "q=0", "q=0.000"
bool is_refused(std::string_view weight) {
    if (!weight.starts_with("q=") && !weight.starts_with("Q=")) return false;
    return weight.substr(2).find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
    bool accepts = false;
    while (!accept_encoding.empty()) {
        auto item = take_field(accept_encoding, ',');
        const auto name = trimmed(take_field(item, ';'));
        if (name == "gzip" || name == "x-gzip") return !is_refused(trimmed(item));
        if (name == "*") accepts = !is_refused(trimmed(item));
    }
    return accepts;
}

std::optional<std::string> gzip_if_it_pays(std::string_view body) {
    if (body.size() < bounds::gzip_bytes_min || body.size() > bounds::gzip_bytes_max) {
        return std::nullopt;
    }
    z_stream stream{};
    if (deflateInit2(&stream, level, Z_DEFLATED, gzip_window, memory, Z_DEFAULT_STRATEGY) != Z_OK) {
        return std::nullopt;
    }
    // What does not fit into nine tenths is not worth the trouble.
    std::string compressed(body.size() / 10 * 9, '\0');
    // zlib takes what it only reads as not const.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
    stream.avail_in = static_cast<uInt>(body.size());
    stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
    stream.avail_out = static_cast<uInt>(compressed.size());
    const bool fits = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    compressed.resize(compressed.size() - stream.avail_out);
    deflateEnd(&stream);
    if (!fits) return std::nullopt;
    return compressed;
}

}  // namespace knell::net::http
