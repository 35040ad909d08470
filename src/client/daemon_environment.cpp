#include "client/daemon_environment.hpp"

#include <algorithm>
#include <array>
#include <string_view>

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

}  // namespace knell::client
