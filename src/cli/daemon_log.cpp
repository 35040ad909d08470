#include "cli/daemon_log.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace knell::cli {

namespace {

constexpr int older_files_max = 16;
constexpr std::size_t piece_bytes = 64U << 10U;

std::string name_of(const std::string& path, int age) {
    return age == 0 ? path : fmt::format("{}.{}", path, age);
}

/// Where the last `lines` lines begin; `lines` becomes what is missing of them.
std::size_t start_of_last(std::string_view text, std::size_t& lines) {
    auto at = text.size();
    if (at == 0) return 0;
    if (text.back() == '\n') --at;
    while (lines > 0) {
        --lines;
        const auto line_end = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
        if (line_end == std::string_view::npos) return 0;
        at = line_end;
    }
    return std::min(at + 1, text.size());
}

bool is_the_same_file(int file, const std::string& path) {
    struct stat opened{};
    struct stat named{};
    return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

Result<std::string> last_log_lines(const std::string& path, std::size_t lines_max) {
    std::string found;
    auto missing = lines_max;
    for (int age = 0; age <= older_files_max && missing > 0; ++age) {
        std::ifstream file(name_of(path, age), std::ios::binary);
        if (!file) {
            if (age > 0) break;
            return fail(ErrorCode::not_found,
                        fmt::format("there is no log at {}: {}. A daemon that was started with "
                                    "`knell up` alone logs to where it was started",
                                    path, std::generic_category().message(errno)));
        }
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        found.insert(0, text.substr(start_of_last(text, missing)));
    }
    return found;
}

LogFollower::LogFollower(std::string path) : path_(std::move(path)) {
    if (open_anew()) ::lseek(file_.get(), 0, SEEK_END);
}

std::string LogFollower::read_more() {
    if (!file_ && !open_anew()) return {};
    auto piece = read_piece();
    // What was written to the old file before it was replaced comes first.
    if (piece.empty() && !is_the_same_file(file_.get(), path_)) {
        piece = read_piece();
        if (piece.empty() && open_anew()) piece = read_piece();
    }
    return piece;
}

bool LogFollower::open_anew() {
    Fd next(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!next) return false;
    file_ = std::move(next);
    return true;
}

std::string LogFollower::read_piece() const {
    std::string piece(piece_bytes, '\0');
    const auto size = ::read(file_.get(), piece.data(), piece.size());
    piece.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return piece;
}

}  // namespace knell::cli
