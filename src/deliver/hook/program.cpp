#include "deliver/hook/program.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/text.hpp"
#include "platform/file_trust.hpp"

namespace knell {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t names_shown_max = 5;

bool is_file(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error);
}

bool is_program(const fs::path& path) {
    return is_file(path) && ::access(path.c_str(), X_OK) == 0;
}

Result<HookProgram> from_command(const fs::path& directory, std::vector<std::string> argv,
                                 std::string_view search_path) {
    const auto& word = argv.front();
    auto program = (directory / word).lexically_normal();  // an absolute word stays as it is
    if (!word.contains('/') && !is_file(program)) {
        const auto found = find_in_path(word, search_path);
        if (!found) return std::unexpected(found.error());
        program = *found;
    }
    if (!is_file(program)) {
        return fail(ErrorCode::not_found,
                    fmt::format("there is no program {}; correct `command`", program.string()));
    }
    if (!is_program(program)) {
        return fail(ErrorCode::not_found,
                    fmt::format("{} is not executable; chmod +x it", program.string()));
    }
    argv.front() = program.string();
    return HookProgram{std::move(argv), /*is_python_handler=*/false};
}

/// The names of the executable files in a directory, in order.
std::vector<std::string> programs_in(const fs::path& directory) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        auto name = entry->path().filename().string();
        // A file system without modes shows every file as executable.
        if (name.starts_with('.') || name == "HOOK.yaml" || !is_program(entry->path())) continue;
        names.push_back(std::move(name));
    }
    std::ranges::sort(names);
    return names;
}

Result<HookProgram> only_program(const fs::path& directory) {
    auto names = programs_in(directory);
    if (names.size() == 1) return HookProgram{{(directory / names.front()).string()}, false};
    if (names.empty()) {
        return fail(ErrorCode::not_found,
                    "nothing to run: there is no handler.py and no executable file; chmod +x the "
                    "program, or set `command`");
    }
    const auto more = names.size() > names_shown_max;
    if (more) names.resize(names_shown_max);
    for (auto& name : names) {
        if (!is_utf8(name)) name = "?";
    }
    return fail(ErrorCode::invalid_params,
                fmt::format("several programs ({}{}); set `command` to the one to run",
                            fmt::join(names, ", "), more ? ", ..." : ""));
}

}  // namespace

Result<std::string> find_in_path(const std::string& name, std::string_view search_path) {
    std::string unsafe;
    while (!search_path.empty()) {
        const auto part = search_path.substr(0, search_path.find(':'));
        search_path.remove_prefix(std::min(part.size() + 1, search_path.size()));
        // A relative entry would mean something else in the hook's directory.
        if (!part.starts_with('/')) continue;
        const auto candidate = fs::path(part) / name;
        if (!is_program(candidate)) continue;
        const auto ours = check_only_ours(std::string(part));
        if (ours) return candidate.string();
        // Nothing is known of this one: the next would be another program.
        if (ours.error().code == ErrorCode::limit) return std::unexpected(ours.error());
        if (unsafe.empty()) unsafe = candidate.string();
    }
    if (unsafe.empty()) {
        return fail(
            ErrorCode::not_found,
            fmt::format("the program {} is neither in the hook's directory nor in the PATH; "
                        "install it, or write where it is",
                        name));
    }
    const auto directory = fs::path(unsafe).parent_path().string();
    return fail(ErrorCode::unauthorized,
                fmt::format("the program {} is not used: {} is in the PATH, but {}", unsafe,
                            directory, check_only_ours(directory).error().message));
}

Result<HookProgram> find_hook_program(const std::string& directory,
                                      const std::vector<std::string>& command,
                                      std::string_view search_path) {
    const fs::path here(directory);
    if (!command.empty()) return from_command(here, command, search_path);
    const auto handler = here / "handler.py";
    if (is_file(handler)) return HookProgram{{handler.string()}, /*is_python_handler=*/true};
    return only_program(here);
}

}  // namespace knell
