#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Error;
}  // namespace CLI

namespace knell::cli {

/// What is wrong with a command line, in our words: what was given, what may be, and what was
/// probably meant.
std::string usage_words(const CLI::Error& error);

/// The first option of `arguments` that the verb does not have, told with the nearest one that it
/// has; nothing when all are known.  Looks no further than `--` and, where the verb takes a
/// command, than the first word of that: what follows is not ours.
std::optional<std::string> unknown_option(const CLI::App& verb,
                                          const std::vector<std::string>& arguments);

/// `there is no verb "shwo"; did you mean "show"?`
std::string unknown_word(std::string_view kind, std::string_view word,
                         const std::vector<std::string>& known);

/// `"stalles" is none of: running, stalled; did you mean "stalled"?`
std::string none_of(std::string_view word, const std::vector<std::string>& known);

}  // namespace knell::cli
