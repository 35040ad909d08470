#include "deliver/hook/command.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <ranges>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "deliver/hook/hermes_shim.hpp"
#include "platform/shortage.hpp"

namespace knell {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t interpreter_line_max = 256;  // as in the kernel
constexpr int interpreters_max = 5;

using Problem = CommandProblem;

Problem problem_with(const fs::path& path, Error error) {
    return {{path.string(), {}, std::move(error.message)},
            /*is_shortage=*/error.code == ErrorCode::limit};
}

std::expected<OwnFile, Problem> open_file(const fs::path& path) {
    auto opened = open_only_ours(path.string());
    if (opened) return std::move(*opened);
    if (opened.error().code == ErrorCode::not_found) {
        return std::unexpected(Problem{{path.string(), {}, "is not there"}});
    }
    return std::unexpected(problem_with(path, std::move(opened.error())));
}

/// What is left of `text` from its next word on.
std::string_view from_next_word(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    return text;
}

std::string_view first_word(std::string_view text) {
    return text.substr(0, text.find_first_of(" \t"));
}

/// What follows #! in a script; "" when it is none, or none that we may read.  A problem when it
/// cannot be told for now: an interpreter that is not known is not looked at either.
std::expected<std::string, Problem> interpreter_line(const OwnFile& program) {
    const Fd file(
        open(program.path_of_descriptor().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file && is_shortage(errno)) {
        return std::unexpected(
            Problem{{program.path,
                     {},
                     "its first line cannot be read: " + std::generic_category().message(errno)},
                    /*is_shortage=*/true});
    }
    std::array<char, interpreter_line_max> bytes{};
    const auto size = file ? read(file.get(), bytes.data(), bytes.size()) : 0;
    if (size < 2) return {};
    const std::string_view line(bytes.data(), static_cast<std::size_t>(size));
    if (!line.starts_with("#!")) return {};
    return std::string(from_next_word(line.substr(2, line.find('\n') - 2)));
}

/// `#!/usr/bin/env NAME`: the file that env(1) will run, if it finds one.  The PATH that it gets
/// has only directories that are safe; the file may still be one that others can change.
Result<std::optional<std::string>> run_by_env(std::string_view line, std::string_view search_path) {
    auto name = first_word(line);
    if (fs::path(name).filename() != "env") return std::nullopt;
    do {
        line = from_next_word(line.substr(name.size()));
        name = first_word(line);
    } while (name.starts_with('-') || name.contains('='));
    if (name.empty()) return std::nullopt;
    if (name.contains('/')) return std::string(name);
    for (const auto part : std::views::split(search_path, ':')) {
        const std::string folder(part.begin(), part.end());
        const auto candidate = fs::path(folder) / name;
        if (access(candidate.c_str(), X_OK) != 0) continue;
        const auto ours = check_only_ours(folder);
        if (ours) return candidate.string();
        if (ours.error().code == ErrorCode::limit) return std::unexpected(ours.error());
    }
    return std::nullopt;
}

/// One that is not there is no danger: the kernel will say so.
std::expected<void, Problem> check_interpreters(const fs::path& directory, std::string line,
                                                std::string_view search_path) {
    for (int i = 0; i < interpreters_max && !line.empty(); ++i) {
        const auto by_env = run_by_env(line, search_path);
        if (!by_env) return std::unexpected(problem_with(directory, by_env.error()));
        std::string next;
        for (const auto& word : {std::string(first_word(line)), by_env->value_or("")}) {
            if (word.empty()) continue;
            const auto path = directory / word;  // an absolute word stays as it is
            const auto interpreter = open_only_ours(path.string());
            if (!interpreter && interpreter.error().code == ErrorCode::not_found) return {};
            if (!interpreter) {
                return std::unexpected(problem_with(path, interpreter.error()));
            }
            auto named = interpreter_line(*interpreter);
            if (!named) return std::unexpected(std::move(named.error()));
            next = std::move(*named);
        }
        line = std::move(next);
    }
    return {};
}

/// Scripts of the hook's own that a command line is given.
std::expected<void, Problem> check_words(const fs::path& directory,
                                         const std::vector<std::string>& argv) {
    for (const auto& word : argv | std::views::drop(1)) {
        std::error_code error;
        const auto path = directory / word;
        // What lies elsewhere is data, unless it is what an interpreter is given to run.
        const bool is_elsewhere = !path.lexically_normal().string().starts_with(directory.string());
        if (is_elsewhere && &word != &argv[1]) continue;
        if (!fs::is_regular_file(path, error)) continue;
        if (const auto opened = open_file(path); !opened) return std::unexpected(opened.error());
    }
    return {};
}

std::expected<std::vector<std::string>, Problem> python_command(const std::string& handler,
                                                                std::string_view search_path) {
    if (const auto opened = open_file(handler); !opened) return std::unexpected(opened.error());
    const auto python = find_in_path("python3", search_path);
    if (!python) return std::unexpected(problem_with(handler, python.error()));
    // Unbuffered: what a handler printed before it was killed is not lost.
    return std::vector<std::string>{*python, "-u", "-c", std::string{hermes_shim}, handler};
}

}  // namespace

std::expected<HookCommand, CommandProblem> open_hook_command(const std::string& directory,
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
    const auto interpreter = interpreter_line(*own_program);
    if (!interpreter) return std::unexpected(interpreter.error());
    if (auto checked = check_interpreters(directory, *interpreter, search_path); !checked) {
        return std::unexpected(std::move(checked.error()));
    }
    return HookCommand{.directory = std::move(*own_directory),
                       .program = std::move(*own_program),
                       .is_script = !interpreter->empty(),
                       .argv = std::move(argv)};
}

}  // namespace knell
