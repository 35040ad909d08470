#include "deliver/webhook/base64.hpp"

#include <openssl/evp.h>

namespace knell {

namespace {

const unsigned char* octets(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* octets(std::string& text) {
    return reinterpret_cast<unsigned char*>(text.data());
}

}  // namespace

std::string base64_encode(std::string_view bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL ends it with a NUL
    const auto size = EVP_EncodeBlock(octets(text), octets(bytes), static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
    std::string bytes(text.size() / 4 * 3 + 3, '\0');
    const auto size = EVP_DecodeBlock(octets(bytes), octets(text), static_cast<int>(text.size()));
    if (size < 0) return std::nullopt;
    const auto padding = text.ends_with("==") ? 2U : text.ends_with('=') ? 1U : 0U;
    if (static_cast<std::size_t>(size) < padding) return std::nullopt;
    bytes.resize(static_cast<std::size_t>(size) - padding);
    // OpenSSL forgives blanks around it and more; whoever decodes it at the other end may not.
    if (base64_encode(bytes) != text) return std::nullopt;
    return bytes;
}

}  // namespace knell
