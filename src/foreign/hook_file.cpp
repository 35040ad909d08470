#include "foreign/hook_file.hpp"

#include "config/binding.hpp"
#include "config/yaml.hpp"
#include "foreign/hook_keys.hpp"

namespace knell::foreign {

namespace {

constexpr std::array hook_bindings{
    bind<&HookFile::name>("name"),       bind<&HookFile::description>("description"),
    bind<&HookFile::events>("events"),   bind<&HookFile::command>("command"),
    bind<&HookFile::timeout>("timeout"), bind<&HookFile::concurrency>("concurrency"),
    bind<&HookFile::retries>("retries"),
};
static_assert(binds_all_of(hook_bindings, hook_keys, ""));

}  // namespace

std::expected<HookFile, std::vector<FileProblem>> parse_hook_file(std::string_view text,
                                                                  std::string_view path) {
    const auto root = parse_yaml(text, path);
    if (!root) return std::unexpected(std::vector{root.error()});
    FileProblems problems{std::string(path)};
    const ConfigPlace place{.config_file = std::string(path), .home = {}};
    const auto values = read_keys(hook_keys, *root, "", "", place, problems);
    // With the warnings: one of them may be why something is missing.
    if (problems.has_errors()) return std::unexpected(problems.take());
    HookFile file;
    apply(hook_bindings, values, file);
    file.name_place = values.place_of("name");
    file.command_place = values.place_of("command");
    for (const auto& warning : problems.take()) file.remarks.push_back(to_text(warning));
    return file;
}

}  // namespace knell::foreign
