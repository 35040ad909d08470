#pragma once

#include "wire/config_report.hpp"
#include "wire/json.hpp"

namespace knell::wire {

/// The result of `config.check`, and what `knell config check --json` prints without a daemon.
JsonObject to_json(const ConfigReport& report);

/// The result of `node.reload`.
JsonObject to_json(const ReloadReport& report);

}  // namespace knell::wire
