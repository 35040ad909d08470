#include "deliver/hook/directory.hpp"

#include <algorithm>
#include <array>
#include <expected>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include "base/text.hpp"
#include "config/event_choice.hpp"
#include "core/limits.hpp"
#include "core/subscriber_name.hpp"
#include "deliver/hook/command.hpp"
#include "deliver/hook/program.hpp"
#include "foreign/hook_file.hpp"
#include "platform/environment.hpp"
#include "platform/file_trust.hpp"

namespace knell {

namespace {

namespace fs = std::filesystem;

using Problems = std::vector<FileProblem>;

struct ReadHook {
    HookSpec spec;
    TextPlace name_place;
};

std::unexpected<Problems> about(const fs::path& file, const Error& error, TextPlace place = {}) {
    return std::unexpected(Problems{make_problem(file.string(), place, "", error.message)});
}

/// Directories that are meant to be hooks, and those of them that have no HOOK.yaml.
struct HookNames {
    std::vector<std::string> hooks;
    std::vector<std::string> without_file;
};
HookNames hook_names(const fs::path& hooks_dir) {
    HookNames names;
    std::error_code error;
    for (fs::directory_iterator entry(hooks_dir, error), end; !error && entry != end;
         entry.increment(error)) {
        auto name = entry->path().filename().string();
        if (name.starts_with('.') || name.starts_with('_')) continue;
        std::error_code missing;
        if (fs::exists(fs::symlink_status(entry->path() / "HOOK.yaml", missing))) {
            names.hooks.push_back(std::move(name));
        } else if (entry->is_directory(missing)) {
            names.without_file.push_back(std::move(name));
        }
    }
    std::ranges::sort(names.hooks);
    std::ranges::sort(names.without_file);
    return names;
}

/// Whoever moved it there, or misspelt the file, waits in vain for it to be run.
void report_without_file(HookDirectory& found, const fs::path& root,
                         const std::vector<std::string>& names) {
    for (const auto& name : names) {
        if (found.problems.size() >= limits::subscribers_max) return;
        if (!is_utf8(name) || has_control_character(name)) continue;
        found.problems.push_back({name,
                                  {(root / name).string(),
                                   {},
                                   "there is no HOOK.yaml in it, so it is no hook; write one "
                                   "(`knell hooks new NAME` makes "
                                   "one to start from), or put a `_` before its name"}});
    }
}

/// What a shell would do something with, and nobody here does.
std::optional<std::string> remark_on_shell_words(const std::vector<std::string>& command) {
    constexpr std::array<std::string_view, 9> shell_words{"|", "||", "&&", ";",   "&",
                                                          ">", ">>", "<",  "2>&1"};
    const auto word = std::ranges::find_if(command, [&](const std::string& one) {
        return std::ranges::find(shell_words, one) != shell_words.end();
    });
    if (word == command.end()) return std::nullopt;
    return fmt::format(
        "the command has {} in it, which {} is given as a word: no shell looks at it; "
        "put the line into a script, or write: command: [sh, -c, '...']",
        *word, command.front());
}

std::expected<ReadHook, Problems> read_hook(const fs::path& directory) {
    const auto manifest = directory / "HOOK.yaml";
    if (auto ours = check_only_ours(directory.string()); !ours) {
        return about(directory, ours.error());
    }
    const auto text = read_only_ours(manifest.string(), limits::config_bytes_max);
    if (!text) return about(manifest, text.error());
    auto file = foreign::parse_hook_file(*text, manifest.string());
    if (!file) return std::unexpected(std::move(file.error()));
    const auto search_path = environment_variable("PATH");
    auto program = find_hook_program(directory.string(), file->command, search_path);
    if (!program) return about(manifest, program.error(), file->command_place);
    // Looked at again for each run: this is for the person who asks why it does not.
    if (auto command = open_hook_command(directory.string(), *program, search_path); !command) {
        return std::unexpected(Problems{std::move(command.error().what)});
    }
    auto events = choose_events(file->events);

    HookSpec spec;
    spec.name = file->name.empty() ? directory.filename().string() : std::move(file->name);
    spec.description = std::move(file->description);
    spec.directory = directory.string();
    spec.events = events.filter;
    spec.argv = std::move(program->argv);
    spec.is_python_handler = program->is_python_handler;
    if (file->timeout) spec.timeout = *file->timeout;
    if (file->concurrency) spec.concurrency = static_cast<std::size_t>(*file->concurrency);
    spec.retries = file->retries;
    spec.remarks = std::move(events.remarks);
    if (auto remark = remark_on_shell_words(file->command)) {
        spec.remarks.push_back(std::move(*remark));
    }
    std::ranges::move(file->remarks, std::back_inserter(spec.remarks));
    // What the file names was looked at when it was read.
    if (const auto why = why_not_a_subscriber_name(spec.name)) {
        return std::unexpected(
            Problems{make_problem(manifest.string(), file->name_place, "name",
                                  fmt::format("the directory's name, which the hook has without a "
                                              "`name` of its own, {}, or set `name`",
                                              *why))});
    }
    return ReadHook{std::move(spec), file->name_place};
}

/// Adds the hook, or what is wrong with it.
void add(HookDirectory& found, const fs::path& directory) {
    const auto hook = directory.filename().string();
    if (!is_utf8(hook) || has_control_character(hook)) {
        found.problems.push_back(
            {"", make_problem(directory.parent_path().string(), {}, "",
                              "the name of a directory in it is not text; rename "
                              "that")});
        return;
    }
    auto read = read_hook(directory);
    if (!read) {
        for (auto& problem : read.error()) found.problems.push_back({hook, std::move(problem)});
        return;
    }
    auto& [spec, name_place] = *read;
    const auto same = std::ranges::find(found.hooks, spec.name, &HookSpec::name);
    if (same == found.hooks.end()) {
        found.hooks.push_back(std::move(spec));
        return;
    }
    found.problems.push_back(
        {hook, make_problem((directory / "HOOK.yaml").string(), name_place, "name",
                            fmt::format("the name {} is taken by {}; set `name` to "
                                        "another",
                                        spec.name, same->directory))});
}

}  // namespace

HookDirectory read_hooks(const std::string& hooks_dir) {
    HookDirectory found;
    const fs::path root(hooks_dir);
    const auto [names, without_file] = hook_names(root);
    report_without_file(found, root, without_file);
    if (names.empty()) return found;
    // Whoever can write here could add a hook of their own.
    if (auto ours = check_only_ours(hooks_dir); !ours) {
        found.problems.push_back({"", make_problem(hooks_dir, {}, "", ours.error().message)});
        return found;
    }
    for (const auto& name : names) {
        if (found.hooks.size() == limits::subscribers_max) {
            found.problems.push_back(
                {name,
                 make_problem(hooks_dir, {}, "",
                              fmt::format("there are more than {} hooks; {} and what follows it "
                                          "are not run",
                                          limits::subscribers_max, name))});
            break;
        }
        add(found, root / name);
    }
    return found;
}

}  // namespace knell
