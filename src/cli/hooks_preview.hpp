#pragma once

#include <string>

#include "core/error.hpp"
#include "wire/json.hpp"

namespace knell::cli {

/// What `knell hooks ACTION NAME` would do, to be read behind "would", from the result of
/// hooks.list; or why it would fail.  NAME is "" for all, where the action allows that.
Result<std::string> hooks_preview(const std::string& action, const std::string& name,
                                  const JsonObject& list);

}  // namespace knell::cli
