#include "platform/program_environment.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "platform/file_trust.hpp"

namespace knell {

namespace {

/// HERMES_HOME: where a handler written for Hermes looks for its files.
constexpr std::array<std::string_view, 9> passed_on{
    "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "KNELL_HOME", "HERMES_HOME"};
constexpr std::array<std::string_view, 2> passed_on_families{"LC_", "XDG_"};

bool is_passed_on(std::string_view name) {
    return std::ranges::find(passed_on, name) != passed_on.end() ||
           std::ranges::any_of(passed_on_families,
                               [&](auto family) { return name.starts_with(family); });
}

}  // namespace

void add_variable(std::vector<std::string>& environment, std::string_view name,
                  std::string_view value) {
    if (value.empty() || value.contains('\0')) return;
    if (value.size() > limits::hook_variable_bytes_max) return;
    environment.push_back(fmt::format("{}={}", name, value));
}

Result<std::vector<std::string>> base_environment(const char* const* ours) {
    std::vector<std::string> environment;
    for (; *ours != nullptr; ++ours) {
        const std::string_view entry = *ours;
        const auto equals = entry.find('=');
        if (equals == std::string_view::npos) continue;
        const auto name = entry.substr(0, equals);
        const auto value = entry.substr(equals + 1);
        if (name == "PATH") {
            const auto path = safe_search_path(value);
            if (!path) {
                return fail(path.error().code, "its PATH " + path.error().message);
            }
            add_variable(environment, name, *path);
        } else if (is_passed_on(name)) {
            add_variable(environment, name, value);
        }
    }
    return environment;
}

}  // namespace knell
