#include "foreign/hermes/config_check.hpp"

#include <algorithm>
#include <map>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/nearest_word.hpp"
#include "config/yaml.hpp"
#include "foreign/hermes/api_key.hpp"
#include "foreign/hermes/config_keys.hpp"
#include "foreign/hermes/config_map.hpp"
#include "foreign/hermes/config_scalar.hpp"
#include "foreign/hermes/fallbacks.hpp"

namespace knell::hermes {

namespace {

std::string bounds_of(const HermesKey& key) {
    if (key.max < 1e9) return fmt::format(" from {:.0f} to {:.0f}", key.min, key.max);
    return fmt::format(" of at least {:.0f}", key.min);
}

std::string why_not_a_number(const HermesKey& key, const Scalar& scalar) {
    const bool must_be_whole = key.type == HermesType::integer;
    const auto right = fmt::format("{}number{}", must_be_whole ? "whole " : "", bounds_of(key));
    const bool is_number = scalar.kind == ScalarKind::integer || scalar.kind == ScalarKind::real;
    if (!is_number || (must_be_whole && scalar.kind == ScalarKind::real)) {
        return fmt::format("must be a {}; write it without quotes and unit", right);
    }
    if (scalar.number >= key.min && scalar.number <= key.max) return {};
    if (key.name == "idle_minutes") {
        return fmt::format(
            "would reset each conversation at once; write a {}, or `mode: none` to "
            "reset none",
            right);
    }
    return fmt::format("is {} than it may be; write a {}",
                       scalar.number < key.min ? "less" : "more", right);
}

/// "" when it will do.
std::string why_not(const HermesKey& key, const YamlNode& value) {
    const auto scalar = hermes_scalar(value);
    switch (key.type) {
        case HermesType::boolean:
            if (scalar.kind == ScalarKind::boolean) return {};
            return "must be true or false; write one of them, without quotes";
        case HermesType::integer:
        case HermesType::number:
            return why_not_a_number(key, scalar);
        case HermesType::choice: {
            const bool is_text = scalar.kind == ScalarKind::text;
            if (is_text &&
                std::ranges::find(hermes_reset_modes, value.text) != hermes_reset_modes.end()) {
                return {};
            }
            const auto meant = is_text ? nearest_word(value.text, {hermes_reset_modes.begin(),
                                                                   hermes_reset_modes.end()})
                                       : std::string{};
            return fmt::format("must be none, idle, daily or both; {}",
                               meant.empty() ? "write one of these words"
                                             : fmt::format("did you mean \"{}\"?", meant));
        }
        case HermesType::texts:
            if (scalar.kind == ScalarKind::list) return {};
            return "must be a list; write one name a line, each after a dash";
        case HermesType::any:
            return {};
    }
    return {};
}

class HermesCheck {
  public:
    HermesCheck(const YamlNode& document, FileProblems& problems)
        : root_(document, "", problems), problems_(problems) {}

    void run(const std::optional<HermesEnvironment>& environment) {
        look_for_duplicates(root_.node(), "");
        look_at_root_keys();
        check_hermes_fallbacks(root_, problems_);
        look_at_resets(root_, "");
        look_at_section(root_, "", "sessions", hermes_session_keys);
        if (const auto* gateway = root_.find_map("gateway")) {
            look_at_gateway(HermesMap(*gateway, "gateway.", problems_));
        }
        check_hermes_api_key(root_, environment, problems_);
    }

  private:
    void look_for_duplicates(const YamlNode& node, const std::string& at) {
        std::map<std::string_view, int> lines;
        std::size_t number = 0;
        for (const auto& item : node.items) {
            const bool is_map = node.kind == YamlNode::Kind::map;
            const auto path = is_map ? at + shown_key(item.key)
                                     : fmt::format("{}[{}]", at.substr(0, at.size() - 1), ++number);
            look_for_duplicates(item, path + ".");
            if (!is_map) continue;
            const auto [first, is_new] = lines.emplace(item.key, item.place.line);
            if (is_new) continue;
            problems_.add(item.place, path,
                          fmt::format("is written twice, first in line {}, and Hermes takes the "
                                      "last; remove one of both",
                                      first->second));
        }
    }

    void look_at_root_keys() {
        const std::vector<std::string> known(hermes_root_keys.begin(), hermes_root_keys.end());
        for (const auto& item : root_.node().items) {
            const auto& key = item.key;
            // Anchors are kept under such names, and merged from others.
            if (key == "<<" || key.starts_with("x-") || key.starts_with('_')) continue;
            if (key.starts_with('.') || std::ranges::find(known, key) != known.end()) continue;
            problems_.warn(item.place, shown_key(key), what_of_unknown(key, known));
        }
    }

    static std::string what_of_unknown(const std::string& key,
                                       const std::vector<std::string>& known) {
        if (std::ranges::find(hermes_misplaced_keys, key) != hermes_misplaced_keys.end()) {
            return "does nothing at the root; write it under `model`, or in an entry of "
                   "`custom_providers`";
        }
        const auto meant = nearest_word(key, known);
        return fmt::format("Hermes knows no such key; {}",
                           meant.empty() ? "correct its name or its indentation, or remove it"
                                         : fmt::format("did you mean \"{}\"?", meant));
    }

    void look_at_gateway(const HermesMap& gateway) {
        look_at_resets(gateway, "gateway.");
        for (const std::string_view name : {"reset_by_type", "reset_by_platform"}) {
            const auto* policies = gateway.find_map(name);
            if (policies == nullptr) continue;
            const auto at = gateway.path_of(name) + ".";
            const HermesMap map(*policies, at, problems_);
            for (const auto& policy : policies->items) {
                look_at_section(map, at, policy.key, hermes_reset_keys);
            }
        }
    }

    void look_at_resets(const HermesMap& around, const std::string& at) {
        look_at_section(around, at, "session_reset", hermes_reset_keys);
    }

    void look_at_section(const HermesMap& around, const std::string& at, std::string_view name,
                         std::span<const HermesKey> keys) {
        const auto* section = around.find_map(name);
        if (section == nullptr) return;
        const HermesMap map(*section, fmt::format("{}{}.", at, name), problems_);
        std::vector<std::string> names;
        for (const auto& key : keys) {
            names.emplace_back(key.name);
            const auto* value = map.find(key.name);
            if (value == nullptr) continue;
            if (const auto why = why_not(key, *value); !why.empty()) {
                map.reject(*value, key.name, why);
            }
        }
        for (const auto& item : section->items) {
            if (std::ranges::find(names, item.key) != names.end()) continue;
            const auto meant = nearest_word(item.key, names);
            if (meant.empty() || map.find(meant) != nullptr) continue;
            problems_.warn(item.place, map.path_of(shown_key(item.key)),
                           fmt::format("Hermes knows no such key; did you mean \"{}\"?", meant));
        }
    }

    const HermesMap root_;
    FileProblems& problems_;
};

}  // namespace

std::vector<FileProblem> check_hermes_config(std::string_view text, const std::string& path,
                                             const std::optional<HermesEnvironment>& environment) {
    auto document = parse_yaml(text, path, Aliases::followed);
    if (!document) return {std::move(document.error())};
    FileProblems problems(path);
    if (document->kind == YamlNode::Kind::nothing) document->kind = YamlNode::Kind::map;
    if (document->kind != YamlNode::Kind::map) {
        problems.add(document->place, "", "must be keys with values; write them as `key: value`");
        return problems.take();
    }
    HermesCheck(*document, problems).run(environment);
    return problems.take();
}

}  // namespace knell::hermes
