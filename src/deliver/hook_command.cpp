#include "deliver/hook_command.hpp"

#include <array>
#include <filesystem>
#include <ranges>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "deliver/hermes_shim.hpp"

namespace knell {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t interpreter_line_max = 256;  // as in the kernel
constexpr int interpreters_max = 5;

using Problem = FileProblem;

std::expected<OwnFile, Problem> open_file(const fs::path& path) {
    auto opened = open_only_ours(path.string());
    if (opened) return std::move(*opened);
    if (opened.error().code == ErrorCode::not_found) {
        return std::unexpected(Problem{path.string(), 0, "is not there"});
    }
    return std::unexpected(Problem{path.string(), 0, std::move(opened.error().message)});
}

/// The word after #! of a script; "" when it is none, or none that we may read.
std::string interpreter_of(const OwnFile& program) {
    const Fd file(
        open(program.path_of_descriptor().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file) return {};
    std::array<char, interpreter_line_max> bytes{};
    const auto size = read(file.get(), bytes.data(), bytes.size());
    if (size < 2) return {};
    std::string_view line(bytes.data(), static_cast<std::size_t>(size));
    if (!line.starts_with("#!")) return {};
    line = line.substr(2, line.find('\n') - 2);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return std::string(line.substr(0, line.find_first_of(" \t")));
}

/// One that is not there is no danger: the kernel will say so.
std::expected<void, Problem> check_interpreters(const fs::path& directory, std::string word) {
    for (int i = 0; i < interpreters_max && !word.empty(); ++i) {
        const auto path = directory / word;  // an absolute word stays as it is
        const auto interpreter = open_only_ours(path.string());
        if (!interpreter && interpreter.error().code == ErrorCode::not_found) return {};
        if (!interpreter) {
            return std::unexpected(Problem{path.string(), 0, interpreter.error().message});
        }
        word = interpreter_of(*interpreter);
    }
    return {};
}

/// Scripts of the hook's own that a command line is given.
std::expected<void, Problem> check_words(const fs::path& directory,
                                         const std::vector<std::string>& argv) {
    for (const auto& word : argv | std::views::drop(1)) {
        std::error_code error;
        const auto path = directory / word;
        if (word.starts_with('/') || !fs::is_regular_file(path, error)) continue;
        if (const auto opened = open_file(path); !opened) return std::unexpected(opened.error());
    }
    return {};
}

std::expected<std::vector<std::string>, Problem> python_command(const std::string& handler,
                                                                std::string_view search_path) {
    if (const auto opened = open_file(handler); !opened) return std::unexpected(opened.error());
    const auto python = find_in_path("python3", search_path);
    if (!python) return std::unexpected(Problem{handler, 0, python.error().message});
    // Unbuffered: what a handler printed before it was killed is not lost.
    return std::vector<std::string>{*python, "-u", "-c", std::string{hermes_shim}, handler};
}

}  // namespace

std::expected<HookCommand, FileProblem> open_hook_command(const std::string& directory,
                                                          const HookProgram& program,
                                                          std::string_view search_path) {
    auto own_directory = open_file(directory);
    if (!own_directory) return std::unexpected(std::move(own_directory.error()));
    auto argv = program.argv;
    if (program.is_python_handler) {
        auto command = python_command(argv.front(), search_path);
        if (!command) return std::unexpected(std::move(command.error()));
        argv = std::move(*command);
    } else if (auto checked = check_words(directory, argv); !checked) {
        return std::unexpected(std::move(checked.error()));
    }
    auto own_program = open_file(argv.front());
    if (!own_program) return std::unexpected(std::move(own_program.error()));
    const auto interpreter = interpreter_of(*own_program);
    if (auto checked = check_interpreters(directory, interpreter); !checked) {
        return std::unexpected(std::move(checked.error()));
    }
    return HookCommand{.directory = std::move(*own_directory),
                       .program = std::move(*own_program),
                       .is_script = !interpreter.empty(),
                       .argv = std::move(argv)};
}

}  // namespace knell
