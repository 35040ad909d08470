#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/verb_facts.hpp"

namespace CLI {
class App;
}

namespace knell::cli {

// Manual pages, as man(7) macros, from the tables that the program itself goes by.  Pure.

/// knell(1): every verb with its options and what its help says.
std::string man_of_knell(const CLI::App& app, std::span<const VerbFacts> verbs);
/// knell-hooks(7): how to write a hook, with the keys of HOOK.yaml.
std::string man_of_hooks();
/// knell.yaml(5): the keys of config.yaml.
std::string man_of_config();

/// A text as it stands, whatever roff would make of it.
std::string roff_text(std::string_view text);

}  // namespace knell::cli
