#include "config/section_fallback.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/config.hpp"
#include "config/keys.hpp"
#include "config/nearest_word.hpp"

namespace knell {

namespace {

struct Section {
    std::string_view name;
    std::string_view effect;  // of its fallback
    void (*fall_back)(Config& config);
};

/// Of a log that nothing goes from; far from where sums would overflow.
constexpr Retention everything{.keep_for = std::chrono::days{3'650'000},
                               .keep_count = std::int64_t{1} << 60U};

/// What the person who wrote it wanted kept is not known.
void keep_all_events(Config& config) {
    config.events = everything;
}

/// Nor where it was to be reached, and by whom.
void serve_nobody(Config& config) {
    config.http.listen = "off";
    config.http.hosts.clear();
    config.http.behind_proxy = false;
    config.http.trusted_network = false;
    config.http.allow_processes = false;
    config.http.detach_window = limits::detach_window_default;
    config.http.turn_window = limits::turn_window_default;
}

void use_default_bounds(Config& config) {
    config.processes = {.per_session = limits::processes_per_session_default,
                        .max = limits::processes_default,
                        .output_bytes = limits::process_output_bytes_default,
                        .stale_after = limits::process_stale_default};
}

/// Says so to whoever asks why.
void reset_nothing(Config& config) {
    ResetPolicy policy;
    policy.name =
        "the default (session_reset in config.yaml cannot be used; `knell status` says why)";
    config.session_reset = policy;
    config.reset_policies =
        std::make_shared<const ResetPolicies>(std::move(policy), std::vector<ResetOverride>{});
}

void summarise_nothing(Config& config) {
    config.summarizer = {};
}

/// Tools that are normal in a row are so without anybody having written them down.
void guard_by_default(Config& config) {
    config.guard = {};
    const auto row = std::ranges::find(config_key_rows, "guard.normal_tools", &Key::path);
    if (auto tools = default_value(*row)) {
        config.guard.normal_tools = std::get<std::vector<std::string>>(std::move(*tools));
    }
}

constexpr std::array sections{
    Section{"events", "no event is deleted", keep_all_events},
    Section{"http", "HTTP is off, but for what --http says", serve_nobody},
    Section{"processes", "background processes have their default bounds", use_default_bounds},
    Section{"webhooks", "there are no webhooks", [](Config& config) { config.webhooks.clear(); }},
    Section{"space", "no other gateway is shown", [](Config& config) { config.gateways.clear(); }},
    Section{"session_reset", "no session is reset", reset_nothing},
    Section{"summarizer", "nothing is summarised", summarise_nothing},
    Section{"guard", "agents are told by the default when they are stuck, and nothing is refused",
            guard_by_default},
};

constexpr std::string_view section_of(std::string_view path) {
    return path.substr(0, path.find_first_of(".["));
}
static_assert(std::ranges::all_of(config_key_rows,
                                  [](const Key& key) {
                                      return std::ranges::find(sections, section_of(key.path),
                                                               &Section::name) != sections.end();
                                  }),
              "what holds when a section of config.yaml is in error? It needs a row above");

const Section* find_section(std::string_view name) {
    const auto found = std::ranges::find(sections, name, &Section::name);
    return found == sections.end() ? nullptr : &*found;
}

/// Of a key at the root that is none of ours.
std::set<std::string_view> sections_meant(std::string_view key) {
    std::vector<std::string> names;
    for (const auto& section : sections) names.emplace_back(section.name);
    if (const auto nearest = nearest_word(key, names); !nearest.empty()) {
        return {find_section(nearest)->name};
    }
    std::set<std::string_view> meant;
    for (const auto& row : config_key_rows) {
        if (row.name() == key) meant.insert(section_of(row.path));
    }
    if (meant.empty()) meant.insert("events");
    return meant;
}

/// 2 of "webhooks[2]"; 0 of anything else.
std::size_t webhook_number(std::string_view part) {
    constexpr std::string_view start = "webhooks[";
    std::size_t number = 0;
    if (!part.starts_with(start) || !part.ends_with(']')) return 0;
    const auto digits = part.substr(start.size(), part.size() - start.size() - 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc{} && end == digits.data() + digits.size() ? number : 0;
}

/// What holds now, for people; nothing of the items of lists is left.
Value fallback_value(const Config& config, const Setting& setting) {
    if (setting.path == "events.keep_days") {
        return std::chrono::duration_cast<std::chrono::seconds>(config.events.keep_for);
    }
    if (setting.path == "events.keep_count") return config.events.keep_count;
    if (setting.path == "http.listen") return config.http.listen;
    return default_value(*setting.key).value_or(Value(std::string{}));
}

void fall_back_whole(Config& config, const Section& section) {
    section.fall_back(config);
    config.fallbacks.push_back({std::string(section.name), std::string(section.effect)});
    std::erase_if(config.settings, [&](const Setting& setting) {
        return section_of(setting.path) == section.name && setting.path.contains('[');
    });
    for (auto& setting : config.settings) {
        if (section_of(setting.path) != section.name) continue;
        setting.value = fallback_value(config, setting);
        setting.place.reset();
        setting.is_fallback = true;
    }
}

/// The others go on.  Whoever has the name of one that is off is off too: the place in the log is
/// the name's.
void switch_off(Config& config, const std::set<std::size_t>& numbers) {
    std::set<std::string> names;
    for (const auto number : numbers) {
        if (number <= config.webhooks.size()) names.insert(config.webhooks[number - 1].name);
    }
    if (names.empty()) return;
    std::erase_if(config.webhooks,
                  [&](const WebhookSpec& webhook) { return names.contains(webhook.name); });
    std::erase_if(config.settings, [&](const Setting& setting) {
        return std::ranges::any_of(names, [&](const std::string& name) {
            return setting.path.starts_with(fmt::format("webhooks[{}].", name));
        });
    });
    for (auto& setting : config.settings) {
        if (setting.path != "webhooks") continue;
        std::vector<std::string> left;
        for (const auto& webhook : config.webhooks) left.push_back(webhook.name);
        setting.value = std::move(left);
    }
    const bool has_nameless = names.erase("") > 0;
    config.fallbacks.push_back(
        {"webhooks", fmt::format("webhook {}{}{} is off", fmt::join(names, ", "),
                                 has_nameless && !names.empty() ? ", and one " : "",
                                 has_nameless ? "without a name" : "")});
}

}  // namespace

void fall_back(Config& config, const std::set<std::string, std::less<>>& parts) {
    std::set<std::string_view> whole;
    std::set<std::size_t> webhooks;
    for (const auto& part : parts) {
        if (part.empty()) {
            for (const auto& section : sections) whole.insert(section.name);
        } else if (find_section(part) != nullptr) {
            whole.insert(part);
        } else if (const auto number = webhook_number(part); number > 0) {
            webhooks.insert(number);
        } else {
            whole.merge(sections_meant(part));
        }
    }
    for (const auto& section : sections) {
        if (whole.contains(section.name)) fall_back_whole(config, section);
    }
    if (!whole.contains("webhooks") && !webhooks.empty()) switch_off(config, webhooks);
}

}  // namespace knell
