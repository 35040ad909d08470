#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "functional/harness/owners.hpp"

namespace knell::functional {

/// Writes hooks/NAME with a HOOK.yaml that asks for `events` and holds `more`, and the shell
/// script.
void write_hook(const TempHome& home, const std::string& name, std::string_view script,
                std::string_view events = "\"*\"", std::string_view more = {});

/// A daemon with hooks that write what they hear into files of their own.
class WithHooks : public WithOwners {
  protected:
    /// A hook that adds each event, one line each, to hooks/NAME/heard.
    void add_listener(const std::string& name, std::string_view events = "\"*\"");
    /// What it has heard so far.
    std::vector<Json> heard(const std::string& name) const;
    std::vector<std::string> heard_ids(const std::string& name) const;
    /// The row of `hooks.list`, or null.
    Json row(const std::string& name);
    void wait_until_known(const std::string& name);
    void wait_until_heard(const std::string& name, std::string_view id);
    void wait_for_state(const std::string& name, std::string_view state);

    /// Opens and ends a session.
    void live_and_die(const std::string& id);
};

/// The lines of a file; a last one without an end is left out.
std::vector<std::string> lines_of(const std::string& path);

}  // namespace knell::functional
