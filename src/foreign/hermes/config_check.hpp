#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/file_problem.hpp"
#include "foreign/hermes/env_file.hpp"

namespace knell::hermes {

/// What stands beside a config.yaml of Hermes.
struct HermesEnvironment {
    std::string file;            // the .env
    std::vector<EnvLine> lines;  // none where there is no such file
    /// API_SERVER_KEY of the process that asks, which may be that of Hermes too; "": not set.
    std::string api_server_key;
};

/// What Hermes would leave out, take for something else or do with surprising consequences: shapes
/// of the providers it falls back to, when sessions are reset, how long they are kept, who may use
/// its API server, and keys that it does not know.  Pure; a value is never quoted.
///
/// Without `environment`, for a text that stands nowhere, a key of the API server that is missing
/// is not told: nobody knows what else is there.
std::vector<FileProblem> check_hermes_config(std::string_view text, const std::string& path,
                                             const std::optional<HermesEnvironment>& environment);

}  // namespace knell::hermes
