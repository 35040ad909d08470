#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What a file that people write may say, as rows: reading and checking it (config/key_reader.hpp),
/// its JSON Schema and its table in the docs all come from them.
namespace knell {

enum class KeyType : std::uint8_t {
    integer,
    duration,
    time_of_day,  // an hour, or HH:MM; kept as HH:MM
    boolean,
    text,
    prose,    // a text that may have several lines
    texts,    // a list, or one text for a list of one
    command,  // a list of words, or one text of them, split as a shell would
    path,     // relative to config.yaml; ~/ is the home of whoever reads it
    items,    // a list of maps; their keys have "[]" in their paths
};

enum class Presence : std::uint8_t {
    optional,
    required,
    one_of,       // of those in the same map that say so, at least one is required
    exactly_one,  // the same, and no second
};

struct Key {
    std::string_view path;  // "events.keep_days", "webhooks[].timeout"
    KeyType type = KeyType::text;
    /// Of an integer its value; of a duration its seconds; of texts, words and items how many there
    /// are; of a text and a path the bytes.
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::string_view fallback = {};    // the default, as one would write it; "": none
    std::string_view if_missing = {};  // without a default: what holds then, for people
    Presence presence = Presence::optional;
    /// What is counted: the events of a number.  Of a duration what a bare number counts, "days"
    /// where the name of the key says so.  Of items what one of them is called.
    std::string_view unit = {};
    /// Why a text will not do; its pattern in the schema says nearly the same.
    std::optional<std::string> (*refuse)(std::string_view) = nullptr;
    std::string_view pattern = {};
    std::string_view example = {};  // where there is no default
    bool may_hold_token = false;    // a URL: shown without what follows its host
    std::string_view about;         // one sentence, without its full stop

    constexpr std::string_view name() const { return path.substr(path.rfind('.') + 1); }
    /// The path up to the last dot, with it: "events.", "webhooks[].", "".
    constexpr std::string_view section() const { return path.substr(0, path.rfind('.') + 1); }
    constexpr std::chrono::seconds bare_unit() const {
        return unit == "days" ? std::chrono::days{1} : std::chrono::seconds{1};
    }
};

constexpr std::int64_t seconds_in(std::chrono::seconds duration) {
    return duration.count();
}

/// Keys that people are likely to write, and why there are none.
struct RefusedKey {
    std::string_view path;
    std::string_view why;
};

/// All keys of one kind of file.
struct KeyTable {
    std::string_view file;  // "config.yaml"
    std::span<const Key> keys;
    std::span<const RefusedKey> refused = {};
    /// Other programs read the file too: a key that has no row is theirs.
    bool is_shared = false;

    /// What may stand in the map that `section` names ("" is the whole file), in the order of the
    /// table: "events", "webhooks".
    std::vector<std::string_view> names_in(std::string_view section) const;
    /// nullptr: there is none, or it is a map of others.
    const Key* find(std::string_view path) const;
};

/// What it takes, for people: "whole days, 1 to 36500".
std::string describe_values(const Key& key);

}  // namespace knell
