#include "deliver/webhook/secret.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "core/limits.hpp"
#include "platform/environment.hpp"
#include "platform/fd.hpp"
#include "wire/base64.hpp"

namespace knell {

namespace {

constexpr std::string_view prefix = "whsec_";

std::string name_of(const SecretPlace& place) {
    return place.file.empty() ? fmt::format("the secret in ${}", place.variable)
                              : fmt::format("the secret in {}", place.file);
}

std::unexpected<Error> cannot_read(const std::string& path) {
    return fail(ErrorCode::invalid_params,
                fmt::format("cannot read the secret file {}: {}", path, std::strerror(errno)));
}

/// Why this is no file to trust a secret to.
std::optional<std::string> objection_to(const struct stat& file, const std::string& path) {
    if (!S_ISREG(file.st_mode)) return fmt::format("{} is not an ordinary file", path);
    if ((file.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return fmt::format("others can get at the secret file {}: chmod 600 {}", path, path);
    }
    return std::nullopt;
}

Result<std::string> read_file(const std::string& path) {
    // Without O_NONBLOCK a FIFO would hold up every delivery.
    const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file) return cannot_read(path);
    struct stat facts{};
    if (fstat(file.get(), &facts) != 0) return cannot_read(path);
    if (const auto objection = objection_to(facts, path)) {
        return fail(ErrorCode::invalid_params, *objection);
    }
    std::array<char, limits::secret_file_bytes_max + 1> bytes{};
    std::size_t size = 0;
    while (size < bytes.size()) {
        const auto got = read(file.get(), bytes.data() + size, bytes.size() - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_read(path);
        if (got == 0) return std::string(bytes.data(), size);
        size += static_cast<std::size_t>(got);
    }
    return fail(ErrorCode::limit, fmt::format("the secret file {} is larger than {} bytes", path,
                                              limits::secret_file_bytes_max));
}

Result<std::string> read_place(const SecretPlace& place) {
    if (!place.file.empty()) return read_file(place.file);
    return environment_variable(place.variable.c_str());
}

}  // namespace

Result<std::string> read_secret(const SecretPlace& place) {
    auto text = read_place(place);
    if (!text) return text;
    text->erase(text->find_last_not_of(" \t\r\n") + 1);
    if (text->empty()) {
        return fail(ErrorCode::invalid_params, place.file.empty()
                                                   ? fmt::format("${} is not set", place.variable)
                                                   : fmt::format("{} is empty", place.file));
    }
    return text;
}

Result<std::string> decode_secret(std::string_view secret) {
    if (!secret.starts_with(prefix)) {
        return fail(ErrorCode::invalid_params, "must begin with whsec_ and go on in base64");
    }
    auto key = base64_decode(secret.substr(prefix.size()));
    if (!key) {
        return fail(ErrorCode::invalid_params, "is not base64, with its padding, after whsec_");
    }
    if (key->size() < limits::webhook_key_bytes_min ||
        key->size() > limits::webhook_key_bytes_max) {
        return fail(ErrorCode::invalid_params,
                    fmt::format("holds {} bytes after whsec_; {} to {} are expected", key->size(),
                                limits::webhook_key_bytes_min, limits::webhook_key_bytes_max));
    }
    return *std::move(key);
}

Result<std::string> read_signing_key(const SecretPlace& place) {
    const auto secret = read_secret(place);
    if (!secret) return std::unexpected(secret.error());
    auto key = decode_secret(*secret);
    if (!key) key.error().message = fmt::format("{} {}", name_of(place), key.error().message);
    return key;
}

}  // namespace knell
