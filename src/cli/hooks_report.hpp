#pragma once

#include <string>

#include "platform/terminal.hpp"
#include "wire/json.hpp"

namespace knell::cli {

/// The result of hooks.list for a person; `hooks_dir` is where to put the first one.
std::string hooks_table(const JsonObject& result, const Terminal& terminal,
                        const std::string& hooks_dir);
/// The result of hooks.letters; `only_dead`: what waits was not asked for.
std::string letters_table(const JsonObject& result, const Terminal& terminal, bool only_dead);
/// The result of hooks.test.
std::string test_report(const std::string& name, const JsonObject& result);

}  // namespace knell::cli
