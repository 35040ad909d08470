#pragma once

#include <string>
#include <vector>

#include "config/key_reader.hpp"
#include "config/summarizer_settings.hpp"

namespace knell {

/// For a binding.
void set_summarizer_fallback(SummarizerSettings& summarizer, Value&& value);

/// The `summarizer.providers` of the config, from what its root says.  What is wrong goes to the
/// problems, what is set to the settings.
std::vector<SummarizerProvider> read_summarizer_providers(const KeyValues& root,
                                                          const ConfigPlace& place,
                                                          FileProblems& problems,
                                                          std::vector<Setting>& settings);

/// What is allowed and helps nobody, for the person who wrote it.
std::vector<std::string> remarks_about(const SummarizerSettings& summarizer);

}  // namespace knell
