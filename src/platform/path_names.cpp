#include "platform/path_names.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "platform/environment.hpp"

namespace knell {

namespace {

/// A path goes on, or has begun before.
bool is_of_path(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-~$/").contains(c);
}

std::string with_name(std::string_view text, std::string_view folder, std::string_view name) {
    std::string shortened;
    // The root is everybody's.
    if (folder.size() < 2) return std::string(text);
    for (;;) {
        const auto at = std::min(text.find(folder), text.size());
        const auto end = std::min(at + folder.size(), text.size());
        const bool is_whole = end == text.size() || text[end] == '/' || !is_of_path(text[end]);
        const bool has_begun =
            at == 0 ? !shortened.empty() && is_of_path(shortened.back()) : is_of_path(text[at - 1]);
        shortened += text.substr(0, at);
        if (at == text.size()) return shortened;
        shortened += is_whole && !has_begun ? name : folder;
        text.remove_prefix(end);
    }
}

std::string without_trailing_slashes(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
}

}  // namespace

PathNames PathNames::from_environment() {
    auto knell_home = environment_variable("KNELL_HOME");
    if (!knell_home.empty()) {
        // Without a current directory it stays as it is, and nothing begins with it.
        std::error_code unknown;
        const auto absolute = std::filesystem::absolute(knell_home, unknown);
        if (!unknown) knell_home = absolute.string();
    }
    return {without_trailing_slashes(environment_variable("HOME")),
            without_trailing_slashes(std::move(knell_home))};
}

std::string PathNames::in(std::string_view text) const {
    return with_name(with_name(text, knell_home_, "$KNELL_HOME"), home_, "~");
}

}  // namespace knell
