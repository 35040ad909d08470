#pragma once

#include <algorithm>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/file_problem.hpp"
#include "config/gateway_spec.hpp"
#include "config/http_settings.hpp"
#include "config/process_settings.hpp"
#include "config/section_fallback.hpp"
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
    /// Sections that are wrong in the file, so that what is safe holds instead; see usable_part.
    std::vector<SectionFallback> fallbacks;

    bool has_fallen_back(std::string_view section) const {
        return std::ranges::find(fallbacks, section, &SectionFallback::section) != fallbacks.end();
    }
};

/// The config, or everything that is wrong with it.
using ConfigOrProblems = std::expected<Config, std::vector<FileProblem>>;

/// What can be used of a file, and everything that is wrong with it: errors and warnings.
struct UsableConfig {
    Config config;
    std::vector<FileProblem> problems;

    bool is_whole() const { return !has_errors(problems); }
};

/// Pure, and never nothing: a daemon keeps the record whatever is in its config.yaml.  A section
/// with an error in it falls back to what does no harm: no session is reset, no event deleted,
/// nobody served over HTTP.  Of the webhooks only those in error are off.  All sections fall back
/// where the file cannot be read as YAML.
///
/// `path` is absolute: files that are named in the config are looked for beside it; those that
/// begin with ~/ in `home`.  `time_zone` is the machine's.
UsableConfig usable_part(std::string_view text, const std::string& path, const std::string& home,
                         const std::string& time_zone = "UTC");

/// The same of a file.  Without one the defaults hold.  One that somebody else could change is an
/// error: it says where the record is sent.
UsableConfig read_usable_config(const std::string& path);

/// The same, all or nothing.
ConfigOrProblems parse_config(std::string_view text, const std::string& path,
                              const std::string& home, const std::string& time_zone = "UTC");
ConfigOrProblems read_config(const std::string& path);

/// The environment variables that the usable part of config.yaml asks for, such as a webhook's
/// `secret_env`.
std::vector<std::string> variables_in_config(const Paths& paths);

}  // namespace knell
