#include "config/config.hpp"

#include <algorithm>

#include "config/binding.hpp"
#include "config/config_gateways.hpp"
#include "config/config_reset.hpp"
#include "config/config_summarizer.hpp"
#include "config/config_warnings.hpp"
#include "config/config_webhooks.hpp"
#include "config/keys.hpp"
#include "config/yaml.hpp"
#include "core/limits.hpp"
#include "core/names.hpp"
#include "platform/environment.hpp"
#include "platform/file_trust.hpp"
#include "platform/local_zone.hpp"

namespace knell {

namespace {

template <void (*set)(ResetPolicy&, Value&&)>
void in_session_reset(Config& config, Value&& value) {
    set(config.session_reset, std::move(value));
}

void set_fallback(Config& config, Value&& value) {
    set_summarizer_fallback(config.summarizer, std::move(value));
}

void set_breaker(Config& config, Value&& value) {
    const auto found = find_in<BreakerMode>(breaker_mode_names, std::get<std::string>(value));
    CHECK(found);
    config.guard.breaker = *found;
}

constexpr std::array config_bindings{
    bind<&Config::events, &Retention::keep_for>("events.keep_days"),
    bind<&Config::events, &Retention::keep_count>("events.keep_count"),
    bind<&Config::http, &HttpSettings::listen>("http.listen"),
    bind<&Config::http, &HttpSettings::hosts>("http.hosts"),
    bind<&Config::http, &HttpSettings::behind_proxy>("http.behind_proxy"),
    bind<&Config::http, &HttpSettings::trusted_network>("http.trusted_network"),
    bind<&Config::http, &HttpSettings::allow_processes>("http.allow_processes"),
    bind<&Config::http, &HttpSettings::detach_window>("http.detach_window"),
    bind<&Config::http, &HttpSettings::turn_window>("http.turn_window"),
    bind<&Config::processes, &ProcessSettings::per_session>("processes.per_session"),
    bind<&Config::processes, &ProcessSettings::max>("processes.max"),
    bind<&Config::processes, &ProcessSettings::output_bytes>("processes.output_bytes"),
    bind<&Config::processes, &ProcessSettings::stale_after>("processes.stale_after"),
    Binding<Config>{"session_reset.mode", KeyType::text, in_session_reset<set_reset_mode>},
    Binding<Config>{"session_reset.idle_minutes", KeyType::integer,
                    in_session_reset<set_reset_idle>},
    Binding<Config>{"session_reset.at", KeyType::text, in_session_reset<set_reset_time>},
    Binding<Config>{"session_reset.time_zone", KeyType::text, in_session_reset<set_reset_zone>},
    Binding<Config>{"session_reset.on_reset", KeyType::text, in_session_reset<set_on_reset>},
    bind<&Config::session_reset, &ResetPolicy::process_max_age>("session_reset.process_max_age"),
    bind<&Config::guard, &GuardPolicy::errors>("guard.errors"),
    bind<&Config::guard, &GuardPolicy::same_call>("guard.same_call"),
    bind<&Config::guard, &GuardPolicy::same_tool>("guard.same_tool"),
    bind<&Config::guard, &GuardPolicy::normal_tools>("guard.normal_tools"),
    bind<&Config::guard, &GuardPolicy::cycle>("guard.cycle"),
    Binding<Config>{"guard.breaker", KeyType::text, set_breaker},
    bind<&Config::guard, &GuardPolicy::cool_down>("guard.cool_down"),
    bind<&Config::summarizer, &SummarizerSettings::at_tokens>("summarizer.at_tokens"),
    Binding<Config>{"summarizer.fallback", KeyType::text, set_fallback},
    bind<&Config::summarizer, &SummarizerSettings::tail_messages>("summarizer.tail_messages"),
    bind<&Config::summarizer, &SummarizerSettings::cool_down>("summarizer.cool_down"),
};
static_assert(binds_all_of(config_bindings, config_keys, ""));

/// What the keys of `http` say together.
void check_http(const Config& config, FileProblems& problems) {
    const auto place_of = [&](std::string_view path) {
        const auto found = std::ranges::find(config.settings, path, &Setting::path);
        return found == config.settings.end() ? TextPlace{} : found->place.value_or(TextPlace{});
    };
    if (const auto why = why_not_listen(config.http)) {
        problems.add(place_of("http.listen"), "http.listen", *why);
    }
    for (const auto& host : config.http.hosts) {
        const auto why = why_not_a_host(host);
        if (why) problems.add(place_of("http.hosts"), "http.hosts", *why);
    }
}

Config read_document(const YamlNode& document, const ConfigPlace& place, FileProblems& problems) {
    auto values = read_keys(config_keys, document, "", "", place, problems);
    Config config;
    apply(config_bindings, values, config);
    config.settings = std::move(values.settings);
    check_http(config, problems);
    config.webhooks = read_webhooks(values, place, problems, config.settings);
    config.gateways = read_gateways(values, place, problems, config.settings);
    config.reset_policies =
        read_reset_policies(config.session_reset, values, place, problems, config.settings);
    config.session_reset = config.reset_policies->base();
    config.summarizer.providers =
        read_summarizer_providers(values, place, problems, config.settings);
    warn_of_contradictions(config, problems);
    return config;
}

/// Where nothing can be read: everything falls back.
UsableConfig unusable(FileProblem why, const ConfigPlace& place) {
    FileProblems none(place.config_file);
    auto config = read_document({.kind = YamlNode::Kind::map}, place, none);
    fall_back(config, {""});
    return {.config = std::move(config), .problems = {std::move(why)}};
}

ConfigOrProblems whole_or_nothing(UsableConfig&& read) {
    if (read.is_whole()) return std::move(read.config);
    std::erase_if(read.problems, [](const FileProblem& problem) {
        return problem.level == ProblemLevel::warning;
    });
    return std::unexpected(std::move(read.problems));
}

}  // namespace

UsableConfig usable_part(std::string_view text, const std::string& path, const std::string& home,
                         const std::string& time_zone) {
    const ConfigPlace place{.config_file = path, .home = home, .time_zone = time_zone};
    auto document = parse_yaml(text, path);
    if (!document) return unusable(std::move(document.error()), place);
    if (document->kind == YamlNode::Kind::nothing) document->kind = YamlNode::Kind::map;
    if (document->kind != YamlNode::Kind::map) {
        return unusable(make_problem(path, document->place, "",
                                     "must be keys with values; write them as `key: value`"),
                        place);
    }
    FileProblems problems(path);
    auto config = read_document(*document, place, problems);
    fall_back(config, problems.parts_in_error());
    return {.config = std::move(config), .problems = problems.take()};
}

UsableConfig read_usable_config(const std::string& path) {
    const auto text = read_only_ours(path, limits::config_bytes_max);
    const auto home = environment_variable("HOME");
    if (!text && text.error().code != ErrorCode::not_found) {
        return unusable(make_problem(path, {}, "", text.error().message),
                        {.config_file = path, .home = home, .time_zone = local_zone()});
    }
    return usable_part(text ? *text : "", path, home, local_zone());
}

ConfigOrProblems parse_config(std::string_view text, const std::string& path,
                              const std::string& home, const std::string& time_zone) {
    return whole_or_nothing(usable_part(text, path, home, time_zone));
}

ConfigOrProblems read_config(const std::string& path) {
    return whole_or_nothing(read_usable_config(path));
}

std::vector<std::string> variables_in_config(const Paths& paths) {
    std::vector<std::string> variables;
    for (const auto& webhook : read_usable_config(paths.config_file).config.webhooks) {
        for (const auto& secret : webhook.secrets) {
            if (!secret.variable.empty()) variables.push_back(secret.variable);
        }
    }
    return variables;
}

}  // namespace knell
