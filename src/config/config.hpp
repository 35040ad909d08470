#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/file_problem.hpp"
#include "config/gateway_spec.hpp"
#include "config/http_settings.hpp"
#include "config/process_settings.hpp"
#include "config/setting.hpp"
#include "config/summarizer_settings.hpp"
#include "config/webhook_spec.hpp"
#include "core/guard.hpp"
#include "core/retention.hpp"
#include "platform/paths.hpp"
#include "reset/reset_policies.hpp"

namespace knell {

/// What config.yaml says, or the defaults where it says nothing.
struct Config {
    Retention events;
    HttpSettings http;
    ProcessSettings processes;
    std::vector<WebhookSpec> webhooks;
    std::vector<GatewaySpec> gateways;
    /// What `session_reset` says without its overrides; who asks about a session asks all policies.
    ResetPolicy session_reset;
    std::shared_ptr<const ResetPolicies> reset_policies =  // never null
        std::make_shared<const ResetPolicies>();
    GuardPolicy guard;
    SummarizerSettings summarizer;

    /// The same for people, in the order of the key table: every key that has a value.
    std::vector<Setting> settings;
};

/// The config, or everything that is wrong with it.
using ConfigOrProblems = std::expected<Config, std::vector<FileProblem>>;

/// Pure.  `path` is absolute: files that are named in the config are looked for beside it; those
/// that begin with ~/ in `home`.  `time_zone` is the machine's.
ConfigOrProblems parse_config(std::string_view text, const std::string& path,
                              const std::string& home, const std::string& time_zone = "UTC");

/// Without a file the defaults hold.  One that somebody else could change is refused: it says where
/// the record is sent.
ConfigOrProblems read_config(const std::string& path);

/// The environment variables that config.yaml asks for, such as a webhook's `secret_env`.  None
/// when it cannot be read.
std::vector<std::string> variables_in_config(const Paths& paths);

}  // namespace knell
