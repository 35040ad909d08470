#include "config/config_changes.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace knell {

namespace {

/// Told in one line of the log.
constexpr std::size_t changes_max = 20;

using Settings = std::vector<Setting>;

/// By path: there may be thousands on either side.
class Index {
  public:
    explicit Index(const Settings& settings) {
        for (const auto& setting : settings) by_path_.emplace(setting.path, &setting);
    }
    const Setting* find(std::string_view path) const {
        const auto found = by_path_.find(path);
        return found == by_path_.end() ? nullptr : found->second;
    }

  private:
    std::map<std::string_view, const Setting*> by_path_;
};

const std::vector<std::string>& names_of(const Setting& items) {
    return std::get<std::vector<std::string>>(items.value);
}

/// Items that only `here` has: "webhook ops added".  Their own settings are not worth a word then:
/// their paths go to `told`.
void tell_of_items(const Setting& here, const Setting* there, std::string_view what,
                   std::vector<std::string>& changes, std::vector<std::string>& told) {
    for (const auto& name : names_of(here)) {
        const bool is_in_both =
            there != nullptr && std::ranges::find(names_of(*there), name) != names_of(*there).end();
        if (is_in_both) continue;
        changes.push_back(fmt::format("{} {} {}", here.key->unit, name, what));
        told.push_back(fmt::format("{}[{}].", here.path, name));
    }
}

bool is_told(const Setting& setting, const std::vector<std::string>& told) {
    return std::ranges::any_of(
        told, [&](const std::string& label) { return setting.path.starts_with(label); });
}

std::string change_of(const Setting& before, const Setting& after) {
    const auto was = shown_value(*before.key, before.value);
    const auto is = shown_value(*after.key, after.value);
    // The part that differs is one that is not shown.
    if (was == is) return fmt::format("{} changed", after.path);
    return fmt::format("{} {} -> {}", after.path, was, is);
}

}  // namespace

std::vector<std::string> config_changes(const Settings& before, const Settings& after) {
    std::vector<std::string> changes;
    std::vector<std::string> told;
    const Index old_settings(before);
    for (const auto& setting : after) {
        const auto* old = old_settings.find(setting.path);
        if (setting.key->type == KeyType::items) {
            tell_of_items(setting, old, "added", changes, told);
        } else if (is_told(setting, told)) {
            continue;
        } else if (old == nullptr) {
            changes.push_back(fmt::format("{} set to {}", setting.path,
                                          shown_value(*setting.key, setting.value)));
        } else if (old->value != setting.value) {
            changes.push_back(change_of(*old, setting));
        }
    }
    const Index new_settings(after);
    for (const auto& setting : before) {
        const auto* now = new_settings.find(setting.path);
        if (setting.key->type == KeyType::items) {
            tell_of_items(setting, now, "removed", changes, told);
        } else if (now == nullptr && !is_told(setting, told)) {
            changes.push_back(fmt::format("{} removed", setting.path));
        }
    }
    if (changes.size() > changes_max) {
        const auto more = changes.size() - changes_max;
        changes.resize(changes_max);
        changes.push_back(fmt::format("and {} more", more));
    }
    return changes;
}

}  // namespace knell
