#include "config/config_reset.hpp"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "config/binding.hpp"
#include "config/keys.hpp"
#include "core/names.hpp"
#include "reset/time_of_day.hpp"

namespace knell {

namespace {

template <void (*set)(ResetPolicy&, Value&&)>
void in_policy(ResetOverride& target, Value&& value) {
    set(target.policy, std::move(value));
}

using OverrideBinding = Binding<ResetOverride>;
constexpr std::array override_bindings{
    bind<&ResetOverride::selector, &ResetSelector::source>("session_reset.overrides[].source"),
    bind<&ResetOverride::selector, &ResetSelector::platform>("session_reset.overrides[].platform"),
    bind<&ResetOverride::selector, &ResetSelector::chat_type>(
        "session_reset.overrides[].chat_type"),
    bind<&ResetOverride::selector, &ResetSelector::key>("session_reset.overrides[].key"),
    OverrideBinding{"session_reset.overrides[].mode", KeyType::text, in_policy<set_reset_mode>},
    OverrideBinding{"session_reset.overrides[].idle_minutes", KeyType::integer,
                    in_policy<set_reset_idle>},
    OverrideBinding{"session_reset.overrides[].at", KeyType::text, in_policy<set_reset_time>},
    OverrideBinding{"session_reset.overrides[].time_zone", KeyType::text,
                    in_policy<set_reset_zone>},
    OverrideBinding{"session_reset.overrides[].on_reset", KeyType::text, in_policy<set_on_reset>},
    bind<&ResetOverride::policy, &ResetPolicy::process_max_age>(
        "session_reset.overrides[].process_max_age"),
};
static_assert(binds_all_of(override_bindings, config_keys, "session_reset.overrides[]."));

template <typename Enum, std::size_t count>
Enum chosen(const std::array<std::string_view, count>& names, const Value& value) {
    const auto found = find_in<Enum>(names, std::get<std::string>(value));
    CHECK(found);
    return *found;
}

bool says_local(const std::vector<Setting>& settings, std::string_view path) {
    const auto found = std::ranges::find(settings, path, &Setting::path);
    return found != settings.end() && std::get<std::string>(found->value) == local_zone_word;
}

/// Reads the list of overrides, one item after the other.
class OverrideReader {
  public:
    OverrideReader(const ResetPolicy& base, const TimeZone& local, const ConfigPlace& place,
                   FileProblems& problems)
        : base_(base), local_(local), place_(place), problems_(problems) {}

    void read(const YamlNode& item) {
        ++number_;
        auto values = read_item(config_keys, item, section, number_, place_, problems_);
        if (item.kind != YamlNode::Kind::map) return;
        ResetOverride read{.selector = {}, .policy = base_};
        apply(override_bindings, values, read);
        if (says_local(values.settings, "session_reset.overrides[].time_zone")) {
            read.policy.zone = local_;
        }
        if (!is_whole(item, read.selector)) return;
        const auto label = to_text(read.selector);
        read.policy.name = fmt::format("session_reset.overrides[{}] ({})", number_, label);
        for (auto& setting : values.settings) {
            setting.path =
                fmt::format("session_reset.overrides[{}].{}", label, setting.key->name());
            settings_.push_back(std::move(setting));
        }
        labels_.push_back(label);
        overrides_.push_back(std::move(read));
    }

    std::vector<ResetOverride> take() { return std::move(overrides_); }
    std::vector<std::string> take_labels() { return std::move(labels_); }
    std::vector<Setting> take_settings() { return std::move(settings_); }

  private:
    static constexpr std::string_view section = "session_reset.overrides[].";

    /// Of the override that is read, for problems.
    std::string path() const {
        auto path = item_path(section, number_);
        path.pop_back();
        return path;
    }

    /// Of what is written, not of what could be read: that has a problem of its own.
    static std::ptrdiff_t count_written(const YamlNode& item, Presence presence) {
        return std::ranges::count_if(item.items, [&](const YamlNode& value) {
            const auto* key = config_keys.find(fmt::format("{}{}", section, value.key));
            return key != nullptr && key->presence == presence &&
                   value.kind != YamlNode::Kind::nothing;
        });
    }

    /// That it is for some sessions, no other is for the same, and it says something of them.
    bool is_whole(const YamlNode& item, const ResetSelector& selector) {
        if (count_written(item, Presence::optional) == 0) {
            problems_.add(item.place, path(),
                          "this override sets nothing; write what holds for these sessions, as in "
                          "`mode: idle`, or remove it");
        }
        const auto named = count_written(item, Presence::one_of);
        if (named == 0) {
            problems_.add(item.place, path(),
                          "this override names no sessions; write at least one of source, "
                          "platform, chat_type and key");
            return false;
        }
        const auto fields = {&selector.source, &selector.platform, &selector.chat_type,
                             &selector.key};
        const auto read =
            std::ranges::count_if(fields, [](const auto* text) { return !text->empty(); });
        // Of some that could not be read it is not known which sessions they would leave.
        if (read != named) return false;
        const auto [other, is_new] = places_.emplace(selector, item.place);
        if (is_new) return true;
        problems_.add(item.place, path(),
                      fmt::format("the override in line {} is for the same sessions; make one of "
                                  "both",
                                  other->second.line));
        return false;
    }

    const ResetPolicy& base_;
    const TimeZone& local_;
    const ConfigPlace& place_;
    FileProblems& problems_;
    std::size_t number_ = 0;
    std::map<ResetSelector, TextPlace> places_;
    std::vector<ResetOverride> overrides_;
    std::vector<std::string> labels_;
    std::vector<Setting> settings_;
};

}  // namespace

void set_reset_mode(ResetPolicy& policy, Value&& value) {
    policy.mode = chosen<ResetMode>(reset_mode_names, value);
}

void set_reset_idle(ResetPolicy& policy, Value&& value) {
    policy.idle = std::chrono::minutes{std::get<std::int64_t>(value)};
}

void set_reset_time(ResetPolicy& policy, Value&& value) {
    const auto time = parse_time_of_day(std::get<std::string>(value));
    CHECK(time);
    policy.at = *time;
}

void set_reset_zone(ResetPolicy& policy, Value&& value) {
    const auto& name = std::get<std::string>(value);
    policy.zone = name == local_zone_word ? TimeZone() : TimeZone::find(name).value_or(TimeZone());
}

void set_on_reset(ResetPolicy& policy, Value&& value) {
    policy.on_reset = chosen<OnReset>(on_reset_names, value);
}

std::shared_ptr<const ResetPolicies> read_reset_policies(ResetPolicy base, const KeyValues& root,
                                                         const ConfigPlace& place,
                                                         FileProblems& problems,
                                                         std::vector<Setting>& settings) {
    constexpr std::string_view path = "session_reset.overrides";
    const auto* items = root.find_items(path);
    const bool is_written =
        items != nullptr || std::ranges::any_of(settings, [](const Setting& setting) {
            return setting.place && setting.path.starts_with("session_reset.");
        });
    // Where nothing is ever reset no time counts, and the database need not be read.
    const auto local =
        is_written ? TimeZone::find(place.time_zone).value_or(TimeZone()) : TimeZone();
    base.name = "session_reset";
    if (says_local(settings, "session_reset.time_zone")) base.zone = local;

    OverrideReader reader(base, local, place, problems);
    Setting list{
        .key = config_keys.find(path), .path = std::string(path), .value = {}, .place = {}};
    if (items != nullptr) {
        list.place = items->place;
        for (const auto& item : *items->nodes) reader.read(item);
    }
    list.value = reader.take_labels();
    settings.push_back(std::move(list));
    std::ranges::move(reader.take_settings(), std::back_inserter(settings));
    return std::make_shared<const ResetPolicies>(std::move(base), reader.take());
}

}  // namespace knell
