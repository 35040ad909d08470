#include "platform/token_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/fd.hpp"
#include "platform/new_file.hpp"
#include "platform/random.hpp"

namespace knell {

namespace {

/// People may write one of their own; a short one could be guessed.
constexpr std::size_t bytes_min = 32;
constexpr std::size_t bytes_max = 256;

std::unexpected<Error> cannot_read(const std::string& path, int error) {
    return fail(error == ENOENT ? ErrorCode::not_found : ErrorCode::storage,
                fmt::format("cannot read the token file {}: {}", path,
                            std::generic_category().message(error)));
}

std::string new_token() {
    const auto first = random_bits();
    const auto second = random_bits();
    return fmt::format("{:016x}{:016x}{:016x}{:016x}", first[0], first[1], second[0], second[1]);
}

/// A header holds it as it is.
bool is_token(std::string_view text) {
    return text.size() >= bytes_min && text.size() <= bytes_max &&
           std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

std::string token_path(const Paths& paths, TokenKind kind) {
    return paths.state_dir + (kind == TokenKind::full ? "/token" : "/token.read");
}

Result<std::string> read_token(const std::string& path) {
    // A pipe would keep us waiting; a link may lead to what somebody else can change.
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
    if (!file) return cannot_read(path, errno);
    struct stat found{};
    if (::fstat(file.get(), &found) != 0) return cannot_read(path, errno);
    if (!S_ISREG(found.st_mode)) {
        return fail(ErrorCode::unauthorized, fmt::format("{} is not an ordinary file", path));
    }
    if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0 || found.st_uid != ::geteuid()) {
        return fail(ErrorCode::unauthorized,
                    fmt::format("others can get at the token file {}, so its token is not used. "
                                "Make a new one with: knell token rotate{}",
                                path, path.ends_with(".read") ? " --read" : ""));
    }
    std::array<char, bytes_max + 2> bytes{};
    const auto got = ::read(file.get(), bytes.data(), bytes.size());
    if (got < 0) return cannot_read(path, errno);
    std::string_view token(bytes.data(), static_cast<std::size_t>(got));
    token = token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
    if (!is_token(token)) {
        return fail(ErrorCode::invalid_params,
                    fmt::format("the token file {} must hold one line of {} to {} letters, digits "
                                "or signs without blanks",
                                path, bytes_min, bytes_max));
    }
    return std::string(token);
}

Result<std::string> read_or_make_token(const std::string& path) {
    auto token = read_token(path);
    if (token || token.error().code != ErrorCode::not_found) return token;
    auto made = new_token();
    if (auto written = write_new_file(path, made + "\n"); !written) {
        return std::unexpected(std::move(written.error()));
    }
    return made;
}

Result<std::string> rotate_token(const std::string& path) {
    auto made = new_token();
    const auto next = path + ".new";
    ::unlink(next.c_str());  // of one that was interrupted
    if (auto written = write_new_file(next, made + "\n"); !written) {
        return std::unexpected(std::move(written.error()));
    }
    if (std::rename(next.c_str(), path.c_str()) != 0) {
        const int why = errno;
        ::unlink(next.c_str());
        return fail(ErrorCode::storage, fmt::format("cannot write the token file {}: {}", path,
                                                    std::generic_category().message(why)));
    }
    return made;
}

}  // namespace knell
