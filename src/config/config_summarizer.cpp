#include "config/config_summarizer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "config/binding.hpp"
#include "config/keys.hpp"
#include "core/names.hpp"

namespace knell {

namespace {

constexpr std::array provider_bindings{
    bind<&SummarizerProvider::name>("summarizer.providers[].name"),
    bind<&SummarizerProvider::command>("summarizer.providers[].command"),
    bind<&SummarizerProvider::timeout>("summarizer.providers[].timeout"),
};
static_assert(binds_all_of(provider_bindings, config_keys, "summarizer.providers[]."));

}  // namespace

void set_summarizer_fallback(SummarizerSettings& summarizer, Value&& value) {
    const auto name = std::get<std::string>(std::move(value));
    const auto found = find_in<SummarizerSettings::Fallback>(summarizer_fallback_names, name);
    CHECK(found);
    summarizer.fallback = *found;
}

std::vector<SummarizerProvider> read_summarizer_providers(const KeyValues& root,
                                                          const ConfigPlace& place,
                                                          FileProblems& problems,
                                                          std::vector<Setting>& settings) {
    constexpr std::string_view path = "summarizer.providers";
    std::vector<SummarizerProvider> providers;
    std::vector<std::string> names;
    std::vector<Setting> of_providers;
    Setting list{
        .key = config_keys.find(path), .path = std::string(path), .value = {}, .place = {}};
    if (const auto* items = root.find_items(path)) {
        list.place = items->place;
        std::size_t number = 0;
        for (const auto& item : *items->nodes) {
            SummarizerProvider provider;
            auto values =
                read_item(config_keys, item, "summarizer.providers[].", ++number, place, problems);
            if (item.kind != YamlNode::Kind::map) continue;
            apply(provider_bindings, values, provider);
            if (!provider.name.empty() && std::ranges::find(names, provider.name) != names.end()) {
                problems.add(item.place, item_path("summarizer.providers[].", number) + "name",
                             "another provider has this name; choose one that is not taken");
            }
            for (auto& setting : values.settings) {
                setting.path = fmt::format("{}[{}].{}", path, provider.name, setting.key->name());
                of_providers.push_back(std::move(setting));
            }
            names.push_back(provider.name);
            providers.push_back(std::move(provider));
        }
    }
    list.value = std::move(names);
    settings.push_back(std::move(list));
    std::ranges::move(of_providers, std::back_inserter(settings));
    return providers;
}

std::vector<std::string> remarks_about(const SummarizerSettings& summarizer) {
    if (summarizer.at_tokens == 0 || !summarizer.providers.empty()) return {};
    const bool is_cut = summarizer.fallback == SummarizerSettings::Fallback::tail;
    return {fmt::format("at_tokens is {} and there are no providers: {}", summarizer.at_tokens,
                        is_cut ? "a conversation past that goes on with its last messages alone"
                               : "no conversation past that can be summed up; add one")};
}

}  // namespace knell
