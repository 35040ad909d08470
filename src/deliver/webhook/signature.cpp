#include "deliver/webhook/signature.hpp"

#include <array>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/check.hpp"
#include "deliver/webhook/secret.hpp"
#include "wire/base64.hpp"

namespace knell {

namespace {

std::string hmac_sha256(std::string_view key, std::string_view content) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
               reinterpret_cast<const unsigned char*>(content.data()), content.size(),
               digest.data(), &size) != nullptr);
    return {reinterpret_cast<const char*>(digest.data()), size};
}

}  // namespace

std::string sign(const SignedMessage& message, std::string_view key) {
    const auto content = fmt::format("{}.{}.{}", message.id, message.timestamp_s, message.body);
    return "v1," + base64_encode(hmac_sha256(key, content));
}

Result<std::string> signature_header(const SignedMessage& message,
                                     const std::vector<SecretPlace>& secrets) {
    if (secrets.empty()) {
        return fail(ErrorCode::invalid_params, "there is no secret to sign with; name one");
    }
    std::string header;
    for (const auto& place : secrets) {
        const auto key = read_signing_key(place);
        if (!key) return std::unexpected(key.error());
        if (!header.empty()) header += ' ';
        header += sign(message, *key);
    }
    return header;
}

}  // namespace knell
