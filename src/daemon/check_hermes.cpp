#include "daemon/check_hermes.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "daemon/config_problems.hpp"
#include "foreign/hermes/config_check.hpp"
#include "platform/environment.hpp"
#include "platform/small_file.hpp"

namespace knell {

namespace {

/// `name` is how its problems name it.
hermes::HermesEnvironment read_environment(ConfigReport& report, const std::string& path,
                                           const std::string& name) {
    hermes::HermesEnvironment environment{
        .file = name, .lines = {}, .api_server_key = environment_variable("API_SERVER_KEY")};
    const auto text = read_regular_file(path, limits::config_bytes_max);
    if (text) {
        environment.lines = hermes::parse_env_file(*text);
    } else if (text.error().code != ErrorCode::not_found) {
        add_problem(report.problems,
                    make_problem(name, {}, "",
                                 fmt::format("cannot be read: {}; what is in it was not checked",
                                             text.error().message),
                                 ProblemLevel::warning));
    }
    return environment;
}

}  // namespace

void check_hermes(ConfigReport& report, std::string_view text, const std::string& path) {
    std::optional<hermes::HermesEnvironment> environment;
    if (!path.empty()) {
        namespace fs = std::filesystem;
        environment = read_environment(report, fs::path(path).replace_filename(".env").string(),
                                       fs::path(report.file).replace_filename(".env").string());
    }
    for (const auto& problem : hermes::check_hermes_config(text, report.file, environment)) {
        add_problem(report.problems, problem);
    }
}

}  // namespace knell
