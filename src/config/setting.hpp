#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/file_problem.hpp"
#include "config/key_table.hpp"
#include "wire/json.hpp"

namespace knell {

/// What a key is set to.  Of a path: where it leads.  Of items: their names.
using Value =
    std::variant<std::int64_t, std::chrono::seconds, bool, std::string, std::vector<std::string>>;

/// One key with what it is set to, for people: the typed values are in Config.
struct Setting {
    const Key* key = nullptr;
    std::string path;  // the key's, with the item's name: "webhooks[ops].timeout"
    Value value;
    std::optional<TextPlace> place;  // in config.yaml; nothing: the default
    bool is_fallback = false;        // its section is in error: see config/section_fallback.hpp
    std::string override_from = {};  // who said so, whatever the file says; "": nobody
};

/// Nothing for a key that has no default.
std::optional<Value> default_value(const Key& key);

/// As it would be written in config.yaml; of what may hold a token only what cannot.
std::string shown_value(const Key& key, const Value& value);
/// The same for programs: numbers and lists stay what they are.
Json json_value(const Key& key, const Value& value);

}  // namespace knell
