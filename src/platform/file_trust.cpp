#include "platform/file_trust.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "platform/private_group.hpp"
#include "platform/shortage.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

constexpr int links_max = 40;  // as in the kernel
constexpr std::size_t depth_max = 256;

std::string descriptor_path(int fd) {
    return fmt::format("/proc/self/fd/{}", fd);
}

/// With an access list the bits of the group say what the list allows at most, to whomever it
/// names.
bool has_access_list(int fd) {
    if (getxattr(descriptor_path(fd).c_str(), "system.posix_acl_access", nullptr, 0) >= 0) {
        return true;
    }
    return errno != ENODATA && errno != ENOTSUP;
}

/// What somebody else could do to it, and what to type against that; "" when nothing.  `subject`
/// is it as the sentence has it, `path` as the command has it.
std::string objection_to(int fd, const struct stat& found, bool is_on_the_way,
                         std::string_view subject, const std::string& path) {
    const auto us = geteuid();
    if (found.st_uid != us && found.st_uid != 0) {
        return fmt::format("user {} could change {}: chown {} {}", found.st_uid, subject, us, path);
    }
    if (S_ISLNK(found.st_mode)) return {};  // has no modes
    if (is_on_the_way && (found.st_mode & S_ISVTX) != 0) return {};
    if ((found.st_mode & S_IWOTH) != 0) {
        return fmt::format("anybody could change {}: chmod o-w {}", subject, path);
    }
    if ((found.st_mode & S_IWGRP) == 0) return {};
    if (has_access_list(fd)) {
        return fmt::format("an access list lets others change {}: setfacl -b {}; chmod g-w {}",
                           subject, path, path);
    }
    if (is_private_group(found.st_uid, found.st_gid)) return {};
    return fmt::format("group {} could change {}: chmod g-w {}", found.st_gid, subject, path);
}

/// One walk from the root to a path, link by link.
class Walk {
  public:
    explicit Walk(std::string path) : asked_(std::move(path)) { put_ahead(asked_); }

    Result<OwnFile> run() {
        Fd root{open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)};
        if (!root) return cannot("/", errno);
        trail_.push_back({std::move(root), ""});
        while (!ahead_.empty()) {
            if (auto stepped = step(); !stepped) return std::unexpected(stepped.error());
        }
        if (auto objection = look_at_last(/*is_on_the_way=*/false); !objection.empty()) {
            return fail(ErrorCode::unauthorized, std::move(objection));
        }
        return finish();
    }

  private:
    struct Place {
        Fd fd;
        std::string name;
    };

    void put_ahead(std::string_view path) {
        std::vector<std::string> names;
        for (const auto& part : std::filesystem::path(path).relative_path()) {
            if (!part.empty() && part != ".") names.push_back(part.string());
        }
        std::ranges::reverse(names);
        ahead_.insert(ahead_.end(), names.begin(), names.end());
    }

    Result<void> step() {
        const auto name = std::move(ahead_.back());
        ahead_.pop_back();
        if (name == "..") {
            if (trail_.size() > 1) trail_.pop_back();
            return {};
        }
        if (auto objection = look_at_last(/*is_on_the_way=*/true); !objection.empty()) {
            return fail(ErrorCode::unauthorized, std::move(objection));
        }
        if (trail_.size() == depth_max) return cannot(path(), ENAMETOOLONG);
        Fd fd{openat(trail_.back().fd.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
        if (!fd) return cannot(path(), errno);
        struct stat found{};
        if (fstat(fd.get(), &found) != 0) return cannot(path(), errno);
        trail_.push_back({std::move(fd), name});
        if (!S_ISLNK(found.st_mode)) return {};
        return follow(found);
    }

    /// The last place is a link: goes on where it points.
    Result<void> follow(const struct stat& found) {
        const auto link = std::move(trail_.back());
        const auto link_path = path();
        trail_.pop_back();
        const auto subject = fmt::format("the link {}", link_path);
        auto objection = objection_to(link.fd.get(), found, true, subject, "-h " + link_path);
        if (!objection.empty()) return fail(ErrorCode::unauthorized, std::move(objection));
        if (++links_ > links_max) return cannot(link_path, ELOOP);
        std::array<char, PATH_MAX> target{};
        const auto size = readlinkat(link.fd.get(), "", target.data(), target.size());
        if (size <= 0) return cannot(link_path, errno);
        const std::string_view text(target.data(), static_cast<std::size_t>(size));
        if (text.starts_with('/')) trail_.resize(1);
        put_ahead(text);
        return {};
    }

    std::string look_at_last(bool is_on_the_way) const {
        const auto& place = trail_.back();
        struct stat found{};
        if (fstat(place.fd.get(), &found) != 0) return "cannot be looked at";
        const auto here = path();
        const auto subject = is_on_the_way ? fmt::format("{}, which it is in", here) : "it";
        return objection_to(place.fd.get(), found, is_on_the_way, subject, here);
    }

    std::string path() const {
        std::string text;
        for (std::size_t i = 1; i < trail_.size(); ++i) text += "/" + trail_[i].name;
        return text.empty() ? "/" : text;
    }

    static ErrorCode code_of(int error) {
        if (error == ENOENT) return ErrorCode::not_found;
        return is_shortage(error) ? ErrorCode::limit : ErrorCode::storage;
    }
    static std::unexpected<Error> cannot(const std::string& where, int error) {
        return fail(code_of(error), fmt::format("cannot be looked at (in {}): {}", where,
                                                std::generic_category().message(error)));
    }

    Result<OwnFile> finish() {
        OwnFile own;
        own.path = path();
        own.name = trail_.size() == 1 ? "." : trail_.back().name;
        own.file = std::move(trail_.back().fd);
        if (trail_.size() > 1) own.directory = std::move(trail_[trail_.size() - 2].fd);
        return own;
    }

    const std::string asked_;
    std::vector<Place> trail_;        // from the root to where we are
    std::vector<std::string> ahead_;  // the next one last
    int links_ = 0;
};

}  // namespace

std::string OwnFile::path_of_descriptor() const {
    return descriptor_path(file.get());
}

Result<OwnFile> open_only_ours(const std::string& path) {
    std::error_code error;
    auto absolute = std::filesystem::absolute(path, error);
    if (error) return fail(ErrorCode::storage, "cannot be looked at: " + error.message());
    return Walk(absolute.string()).run();
}

Result<void> check_only_ours(const std::string& path) {
    auto opened = open_only_ours(path);
    if (!opened) return std::unexpected(std::move(opened.error()));
    return {};
}

Result<std::string> read_only_ours(const std::string& path, std::size_t bytes_max) {
    const auto opened = open_only_ours(path);
    if (!opened) return std::unexpected(opened.error());
    return read_regular_file(opened->path_of_descriptor(), bytes_max);
}

Result<std::string> safe_search_path(std::string_view search_path) {
    std::string safe;
    while (!search_path.empty()) {
        const auto part = search_path.substr(0, search_path.find(':'));
        search_path.remove_prefix(std::min(part.size() + 1, search_path.size()));
        if (!part.starts_with('/')) continue;
        const auto ours = check_only_ours(std::string(part));
        if (!ours && ours.error().code == ErrorCode::limit) return std::unexpected(ours.error());
        if (!ours) continue;
        if (!safe.empty()) safe += ':';
        safe += part;
    }
    return safe;
}

}  // namespace knell
