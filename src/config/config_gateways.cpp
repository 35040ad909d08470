#include "config/config_gateways.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "config/binding.hpp"
#include "config/keys.hpp"

namespace knell {

namespace {

constexpr std::array gateway_bindings{
    bind<&GatewaySpec::name>("space.gateways[].name"),
    bind<&GatewaySpec::url>("space.gateways[].url"),
    bind<&GatewaySpec::token_file>("space.gateways[].token_file"),
    bind<&GatewaySpec::allow_internal>("space.gateways[].allow_internal"),
};
static_assert(binds_all_of(gateway_bindings, config_keys, "space.gateways[]."));

}  // namespace

std::vector<GatewaySpec> read_gateways(const KeyValues& root, const ConfigPlace& place,
                                       FileProblems& problems, std::vector<Setting>& settings) {
    constexpr std::string_view path = "space.gateways";
    std::vector<GatewaySpec> gateways;
    std::vector<std::string> names;
    std::vector<Setting> of_gateways;
    Setting list{
        .key = config_keys.find(path), .path = std::string(path), .value = {}, .place = {}};
    if (const auto* items = root.find_items(path)) {
        list.place = items->place;
        std::size_t number = 0;
        for (const auto& item : *items->nodes) {
            GatewaySpec gateway;
            auto values =
                read_item(config_keys, item, "space.gateways[].", ++number, place, problems);
            if (item.kind != YamlNode::Kind::map) continue;
            apply(gateway_bindings, values, gateway);
            if (!gateway.name.empty() && std::ranges::find(names, gateway.name) != names.end()) {
                problems.add(item.place, item_path("space.gateways[].", number) + "name",
                             "another gateway has this name; choose one that is not taken");
            }
            for (auto& setting : values.settings) {
                setting.path = fmt::format("{}[{}].{}", path, gateway.name, setting.key->name());
                of_gateways.push_back(std::move(setting));
            }
            names.push_back(gateway.name);
            gateways.push_back(std::move(gateway));
        }
    }
    list.value = std::move(names);
    settings.push_back(std::move(list));
    std::ranges::move(of_gateways, std::back_inserter(settings));
    return gateways;
}

}  // namespace knell
