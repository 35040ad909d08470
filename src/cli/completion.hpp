#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verb_facts.hpp"

namespace CLI {
class App;
}

namespace knell::cli {

/// A word that may stand where somebody types, and what it is.
struct Candidate {
    std::string word;
    std::string about;

    bool operator==(const Candidate&) const = default;
};

/// What a place on the command line takes that no table knows.
enum class Wanted : std::uint8_t { sessions, processes, hooks, config_keys, methods };

struct Completion {
    std::vector<Candidate> candidates;  // from the tables
    std::vector<Wanted> wanted;         // to be looked up
};

/// What may stand in the place of the last of `words`, which is what was typed of it so far.  From
/// the table of verbs and the options that these declare; pure.
Completion complete(const CLI::App& app, std::span<const VerbFacts> verbs,
                    const std::vector<std::string>& words);

/// Those that begin with what was typed, each once, sorted.
std::vector<Candidate> that_begin_with(std::string_view typed, std::vector<Candidate> candidates);

/// The values that an option takes, where they are a choice.
std::vector<std::string> choices_of(std::string_view type_name);

}  // namespace knell::cli
