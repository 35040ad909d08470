#pragma once

#include <functional>
#include <set>
#include <string>

namespace knell {

struct Config;

/// A section of config.yaml that is in error, so that something safe holds instead of it.
struct SectionFallback {
    std::string section;  // "session_reset"
    std::string effect;   // "no session is reset"

    bool operator==(const SectionFallback&) const = default;
};

/// Puts what does no harm in the place of what is in error, and says so in `config.fallbacks`.
/// `parts` are those of FileProblems::parts_in_error: "http", "webhooks[2]", a key at the root that
/// is none of ours, "" for everything.
///
/// What a key at the root was meant to say cannot be known.  Where it is nearly the name of a
/// section, or the name of a key in one, that falls back; else no event is deleted, which is all
/// that could not be undone.
void fall_back(Config& config, const std::set<std::string, std::less<>>& parts);

}  // namespace knell
