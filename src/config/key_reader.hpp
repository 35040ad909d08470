#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/file_problem.hpp"
#include "config/setting.hpp"
#include "config/yaml_fields.hpp"

namespace knell {

/// Where a config is read: what its paths and its times are relative to.
struct ConfigPlace {
    std::string config_file;  // absolute
    std::string home;
    std::string time_zone = "UTC";  // the machine's; one that is not known counts as UTC
};

/// What one map of the file says, by the rows of its key table.
struct KeyValues {
    struct Items {
        const Key* key = nullptr;
        const std::vector<YamlNode>* nodes = nullptr;
        TextPlace place;
    };

    /// Defaults where nothing is written or something is wrong; `path` is the key's own.
    std::vector<Setting> settings;
    std::vector<Items> items;

    /// Where a key stands; the beginning of the file when it is not written.
    TextPlace place_of(std::string_view path) const;
    /// nullptr: none is written, or what is written is no list.
    const Items* find_items(std::string_view path) const;
};

/// Reads `map` by the keys of the table whose paths begin with `section`: "" or "webhooks[].".  The
/// map must outlive what is given.  What is wrong goes to the problems; `at` is what their paths
/// begin with instead: "webhooks[2].".
KeyValues read_keys(const KeyTable& table, const YamlNode& map, std::string_view section,
                    std::string_view at, const ConfigPlace& place, FileProblems& problems);

/// The same for an item of a list: `number` from 1 is that of "webhooks[].".
KeyValues read_item(const KeyTable& table, const YamlNode& map, std::string_view section,
                    std::size_t number, const ConfigPlace& place, FileProblems& problems);

/// "webhooks[2]."
std::string item_path(std::string_view section, std::size_t number);

}  // namespace knell
