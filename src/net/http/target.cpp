#include "net/http/target.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "net/http/bounds.hpp"

namespace knell::net::http {

namespace {

std::unexpected<Error> bad(std::string why) {
    return fail(ErrorCode::invalid_request, "the request target " + std::move(why));
}

int hex_value(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

enum class Plus : bool { is_plus, is_blank };

Result<std::string> decode(std::string_view text, Plus plus) {
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && plus == Plus::is_blank) {
            decoded += ' ';
        } else if (text[i] != '%') {
            decoded += text[i];
        } else {
            const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
            const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return bad("has a % that two hexadecimal digits do not follow");
            decoded += static_cast<char>(high * 16 + low);
            i += 2;
        }
    }
    // Past this nothing looks again: what is wrong in JSON would be refused there.
    if (!is_utf8(decoded) || decoded.contains('\0')) return bad("is not UTF-8");
    return decoded;
}

}  // namespace

Result<Target> parse_target(std::string_view target) {
    if (target.size() > bounds::target_bytes_max) {
        return fail(ErrorCode::limit, fmt::format("the request target may be {} bytes long",
                                                  bounds::target_bytes_max));
    }
    if (!target.starts_with('/')) return bad("must begin with a slash");
    if (has_control_character(target) || target.contains('#')) {
        return bad("holds a character that must be written as %XX");
    }
    Target found;
    auto path = take_field(target, '?');
    path.remove_prefix(1);
    while (!path.empty()) {
        auto segment = decode(take_field(path, '/'), Plus::is_plus);
        if (!segment) return std::unexpected(std::move(segment.error()));
        found.path.push_back(std::move(*segment));
    }
    while (!target.empty()) {
        auto item = take_field(target, '&');
        if (item.empty()) continue;
        if (found.query.size() == bounds::query_items_max) {
            return fail(ErrorCode::limit,
                        fmt::format("a query may have {} parts", bounds::query_items_max));
        }
        auto name = decode(take_field(item, '='), Plus::is_blank);
        auto value = decode(item, Plus::is_blank);
        if (!name) return std::unexpected(std::move(name.error()));
        if (!value) return std::unexpected(std::move(value.error()));
        found.query.emplace_back(std::move(*name), std::move(*value));
    }
    return found;
}

std::string encode_query(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string encoded;
    for (const char byte : text) {
        const bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                              (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' ||
                              byte == '_' || byte == '~';
        if (is_plain) {
            encoded += byte;
            continue;
        }
        const auto code = static_cast<unsigned char>(byte);
        encoded += '%';
        encoded += digits[code >> 4U];
        encoded += digits[code & 0xfU];
    }
    return encoded;
}

}  // namespace knell::net::http
