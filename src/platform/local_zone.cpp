#include "platform/local_zone.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "platform/environment.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

/// "Europe/Berlin" of "/usr/share/zoneinfo/Europe/Berlin", and of itself; "" of another path.
std::string zone_in(std::string_view text) {
    constexpr std::string_view folder = "zoneinfo/";
    if (const auto found = text.rfind(folder); found != std::string_view::npos) {
        text.remove_prefix(found + folder.size());
    }
    if (text.starts_with('/') || text.starts_with('.')) return {};
    return std::string(text);
}

}  // namespace

std::string local_zone(const LocalZoneSources& sources) {
    auto from_variable = sources.variable("TZ");
    if (!from_variable.empty()) {
        const std::string_view text = from_variable;
        return zone_in(text.starts_with(':') ? text.substr(1) : text);
    }
    const auto target = sources.link_target("/etc/localtime");
    if (target.contains("zoneinfo/")) return zone_in(target);
    const auto line = sources.file("/etc/timezone");
    return zone_in(std::string_view(line).substr(0, line.find_first_of(" \t\r\n#")));
}

std::string local_zone() {
    return local_zone(
        {.variable = environment_variable,
         .link_target =
             [](const std::string& path) {
                 std::error_code error;
                 return std::filesystem::read_symlink(path, error).string();
             },
         .file = [](const std::string& path) { return read_small_file(path).value_or(""); }});
}

}  // namespace knell
