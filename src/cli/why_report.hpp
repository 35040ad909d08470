#pragma once

#include <string>
#include <string_view>

#include "cli/session_facts.hpp"
#include "platform/terminal.hpp"
#include "wire/json.hpp"

namespace knell::cli {

/// What session.why answers, for a person: one plain sentence, the verdict and its evidence, then
/// the facts, its history, what it left running, when it is reset, and what would end it.  `home`
/// is what "~" means.
std::string why_report(const JsonObject& why, const Terminal& terminal, const ShownTime& shown,
                       std::string_view home);

}  // namespace knell::cli
