#include "platform/paths.hpp"

#include <climits>
#include <filesystem>

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/environment.hpp"

namespace knell {

namespace {

bool is_absolute(const std::string& path) {
    return !path.empty() && path.front() == '/';
}

std::string made_absolute(const std::string& path, const std::string& cwd) {
    return is_absolute(path) ? path : cwd + "/" + path;
}

std::string without_trailing_slashes(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
}

/// The XDG specification: a relative path in one of its variables is invalid and ignored.
std::string xdg_directory(const PathSources& sources, const char* name,
                          const std::string& fallback) {
    const auto value = sources.variable(name);
    return without_trailing_slashes(is_absolute(value) ? value : fallback) + "/knell";
}

std::string runtime_directory(const PathSources& sources) {
    const auto runtime = sources.variable("XDG_RUNTIME_DIR");
    if (is_absolute(runtime)) return without_trailing_slashes(runtime) + "/knell";
    const auto temporary = sources.variable("TMPDIR");
    return fmt::format("{}/knell-{}",
                       is_absolute(temporary) ? without_trailing_slashes(temporary) : "/tmp",
                       sources.uid);
}

std::string home_directory() {
    auto home = environment_variable("HOME");
    if (is_absolute(home)) return home;
    // cron and init systems start processes without HOME.
    const auto* entry = ::getpwuid(::geteuid());
    return entry == nullptr || entry->pw_dir == nullptr ? "/" : entry->pw_dir;
}

}  // namespace

Paths Paths::from(const PathSources& sources) {
    Paths paths;
    std::string config_dir;
    if (const auto home = sources.variable("KNELL_HOME"); !home.empty()) {
        const auto root = without_trailing_slashes(made_absolute(home, sources.cwd));
        config_dir = paths.state_dir = paths.runtime_dir = root;
    } else {
        const auto user = without_trailing_slashes(sources.home);
        config_dir = xdg_directory(sources, "XDG_CONFIG_HOME", user + "/.config");
        paths.state_dir = xdg_directory(sources, "XDG_STATE_HOME", user + "/.local/state");
        paths.runtime_dir = runtime_directory(sources);
    }
    paths.config_file = config_dir + "/config.yaml";
    paths.hooks_dir = config_dir + "/hooks";
    paths.store_file = paths.state_dir + "/knell.db";
    paths.lock_file = paths.state_dir + "/knell.lock";
    paths.spool_dir = paths.state_dir + "/spool";
    paths.log_file = paths.state_dir + "/knell.log";

    paths.listen_socket = paths.runtime_dir + "/knell.sock";

    // For clients it wins over KNELL_HOME too: a child of `knell run` gets it and must reach the
    // very daemon that holds its session.  A daemon never binds it: it would take the address of
    // the one that set it.
    const auto socket = sources.variable("KNELL_SOCKET");
    paths.socket = socket.empty() ? paths.listen_socket : made_absolute(socket, sources.cwd);
    paths.socket_is_named = !socket.empty();
    return paths;
}

bool Paths::calls_own_daemon() const {
    if (socket == listen_socket) return true;
    // The same place under another name: by way of a link, or with a slash too many.
    const std::filesystem::path one(socket);
    const std::filesystem::path other(listen_socket);
    struct stat one_folder{};
    struct stat other_folder{};
    return one.filename() == other.filename() &&
           ::stat(one.parent_path().c_str(), &one_folder) == 0 &&
           ::stat(other.parent_path().c_str(), &other_folder) == 0 &&
           one_folder.st_dev == other_folder.st_dev && one_folder.st_ino == other_folder.st_ino;
}

Paths Paths::from_environment() {
    char buffer[PATH_MAX];
    const char* cwd = ::getcwd(buffer, sizeof buffer);
    return from({.variable = environment_variable,
                 .home = home_directory(),
                 .cwd = cwd == nullptr ? "/" : cwd,
                 .uid = ::geteuid()});
}

}  // namespace knell
