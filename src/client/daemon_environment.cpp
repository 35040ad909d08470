#include "client/daemon_environment.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

namespace knell::client {

namespace {

// NO_PROXY and the like exist in both spellings; curl does not read HTTP_PROXY, which a web server
// may set from a request.  HERMES_HOME: see hooks.  The last ones are for those who build knell:
// reports of sanitizers and of coverage.
constexpr std::array<std::string_view, 28> passed_on{"HOME",
                                                     "PATH",
                                                     "USER",
                                                     "LOGNAME",
                                                     "SHELL",
                                                     "LANG",
                                                     "LANGUAGE",
                                                     "TZ",
                                                     "TZDIR",
                                                     "TMPDIR",
                                                     "KNELL_HOME",
                                                     "HERMES_HOME",
                                                     "SSL_CERT_FILE",
                                                     "SSL_CERT_DIR",
                                                     "CURL_CA_BUNDLE",
                                                     "http_proxy",
                                                     "https_proxy",
                                                     "HTTPS_PROXY",
                                                     "all_proxy",
                                                     "ALL_PROXY",
                                                     "no_proxy",
                                                     "NO_PROXY",
                                                     "LD_LIBRARY_PATH",
                                                     "ASAN_OPTIONS",
                                                     "TSAN_OPTIONS",
                                                     "UBSAN_OPTIONS",
                                                     "LSAN_OPTIONS",
                                                     "LLVM_PROFILE_FILE"};
constexpr std::array<std::string_view, 2> passed_on_families{"LC_", "XDG_"};

bool is_passed_on(std::string_view name, std::span<const std::string> named) {
    return std::ranges::find(passed_on, name) != passed_on.end() ||
           std::ranges::find(named, name) != named.end() ||
           std::ranges::any_of(passed_on_families,
                               [&](auto family) { return name.starts_with(family); });
}

}  // namespace

std::vector<std::string> daemon_environment(const char* const* ours,
                                            std::span<const std::string> named) {
    std::vector<std::string> environment;
    for (; *ours != nullptr; ++ours) {
        const std::string_view entry = *ours;
        if (is_passed_on(entry.substr(0, entry.find('=')), named)) environment.emplace_back(entry);
    }
    return environment;
}

void drop_other_variables(std::span<const std::string> named) {
    // sd_listen_fds(3), sd_notify(3)
    static constexpr std::array<std::string_view, 6> managers{"NOTIFY_SOCKET", "WATCHDOG_PID",
                                                              "WATCHDOG_USEC", "LISTEN_PID",
                                                              "LISTEN_FDS",    "LISTEN_FDNAMES"};
    std::vector<std::string> others;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto name = text.substr(0, text.find('='));
        const bool is_managers = std::ranges::find(managers, name) != managers.end();
        if (!is_managers && !is_passed_on(name, named)) others.emplace_back(name);
    }
    for (const auto& name : others) ::unsetenv(name.c_str());
}

}  // namespace knell::client
