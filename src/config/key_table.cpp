#include "config/key_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/duration_text.hpp"

namespace knell {

std::vector<std::string_view> KeyTable::names_in(std::string_view section) const {
    std::vector<std::string_view> names;
    for (const auto& key : keys) {
        if (!key.path.starts_with(section)) continue;
        auto name = key.path.substr(section.size());
        name = name.substr(0, name.find('.'));
        if (name.ends_with("[]")) continue;  // of the items of a list, which has its own row
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return names;
}

const Key* KeyTable::find(std::string_view path) const {
    const auto found = std::ranges::find(keys, path, &Key::path);
    return found == keys.end() ? nullptr : &*found;
}

std::string describe_values(const Key& key) {
    const std::chrono::seconds least{key.min};
    const std::chrono::seconds most{key.max};
    switch (key.type) {
        case KeyType::integer:
            return fmt::format("{} to {}", key.min, key.max);
        case KeyType::duration:
            if (key.unit == "seconds") {
                return fmt::format("{} to {}", format_duration(least), format_duration(most));
            }
            return fmt::format("whole {}, {} to {}", key.unit, least / key.bare_unit(),
                               most / key.bare_unit());
        case KeyType::time_of_day:
            return "an hour from 0 to 23, or `HH:MM`";
        case KeyType::boolean:
            return "true or false";
        case KeyType::text:
            return "text";
        case KeyType::prose:
            return "text, also of several lines";
        case KeyType::texts:
            return fmt::format("text or a list, at most {}", key.max);
        case KeyType::command:
            return fmt::format(
                "list of words, or one text, split at blanks as a shell would (quotes, backslash; "
                "nothing is expanded); at most {} words",
                key.max);
        case KeyType::path:
            return "path, relative to config.yaml; `~/` is your home";
        case KeyType::items:
            return fmt::format("list, at most {}", key.max);
    }
    return {};
}

}  // namespace knell
