#include "config/key_reader.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "config/split_words.hpp"

namespace knell {

namespace {

namespace fs = std::filesystem;

std::string resolved(const std::string& file, const ConfigPlace& place) {
    if (file.starts_with("~/")) return (fs::path(place.home) / file.substr(2)).string();
    return (fs::path(place.config_file).parent_path() / file).lexically_normal().string();
}

/// As a JSON Schema counts.
std::int64_t character_count(std::string_view text) {
    return std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

/// One map, and the maps inside it.
class KeyReader {
  public:
    KeyReader(const KeyTable& table, const ConfigPlace& place, FileProblems& problems)
        : table_(table), place_(place), problems_(problems) {}

    void read(const YamlNode& map, std::string_view section, std::string_view at) {
        YamlFields fields(map, problems_, std::string(at));
        if (map.kind != YamlNode::Kind::map) return;
        for (const auto name : table_.names_in(section)) {
            const auto path = fmt::format("{}{}", section, name);
            if (const auto* key = table_.find(path)) {
                read_key(*key, fields);
            } else {
                static const YamlNode nothing_written{.kind = YamlNode::Kind::map};
                const auto* inner = fields.node(name);
                read(inner == nullptr ? nothing_written : *inner, path + ".",
                     fmt::format("{}{}.", at, name));
            }
        }
        for (const auto& [path, why] : table_.refused) {
            if (path.substr(0, path.rfind('.') + 1) != section) continue;
            fields.refuse_key(path.substr(section.size()), why);
        }
        if (table_.is_shared) return fields.warn_of_near_misses();
        fields.refuse_other_keys([this](std::string_view key) { return elsewhere(key); });
    }
    KeyValues take() { return std::move(values_); }

  private:
    /// A key in the wrong section, most often by its indentation; or written as we name it.
    std::string elsewhere(std::string_view name) const {
        const auto found = std::ranges::find_if(table_.keys, [&](const Key& key) {
            return !key.path.contains("[]") && (key.name() == name || key.path == name);
        });
        if (found == table_.keys.end()) return {};
        return fmt::format("{}: {}", found->section().substr(0, found->section().size() - 1),
                           found->name());
    }

    void read_key(const Key& key, YamlFields& fields) {
        const auto name = key.name();
        const bool is_written = fields.node(name) != nullptr;
        if (!is_written && key.presence == Presence::required) {
            fields.reject(name,
                          fmt::format("is missing; write it, as in `{}: {}`", name, key.example));
        }
        if (key.type == KeyType::items) {
            read_items(key, fields);
            return;
        }
        auto value = is_written ? read_value(key, fields) : std::nullopt;
        const auto place = value ? std::optional(fields.place(name)) : std::nullopt;
        if (!value) value = default_value(key);
        if (!value) return;
        values_.settings.push_back({&key, std::string(key.path), std::move(*value), place});
    }

    void read_items(const Key& key, YamlFields& fields) {
        const auto* nodes = fields.list(key.name());
        if (nodes == nullptr) return;
        if (nodes->size() > static_cast<std::size_t>(key.max)) {
            fields.reject(key.name(),
                          fmt::format("there are {}, and at most {} are allowed; remove some",
                                      nodes->size(), key.max));
            return;
        }
        values_.items.push_back({&key, nodes, fields.place(key.name())});
    }

    std::optional<Value> read_value(const Key& key, YamlFields& fields) const {
        const auto name = key.name();
        switch (key.type) {
            case KeyType::integer:
                return fields.integer(name, key.min, key.max);
            case KeyType::duration:
                return fields.duration(name, std::chrono::seconds{key.min},
                                       std::chrono::seconds{key.max}, key.bare_unit());
            case KeyType::time_of_day:
                return fields.time_of_day(name);
            case KeyType::boolean:
                return fields.boolean(name);
            case KeyType::text:
                return read_text(key, fields);
            case KeyType::prose:
                return fields.prose(name);
            case KeyType::path:
                return read_text(key, fields).transform([&](const std::string& file) {
                    return resolved(file, place_);
                });
            case KeyType::texts:
                return read_texts(key, fields);
            case KeyType::command:
                return read_command(key, fields);
            case KeyType::items:
                break;
        }
        return std::nullopt;
    }

    static std::optional<std::string> read_text(const Key& key, YamlFields& fields) {
        auto text = fields.text(key.name());
        if (!text) return std::nullopt;
        auto why = key.refuse == nullptr ? std::nullopt : key.refuse(*text);
        if (!why && text->size() < static_cast<std::size_t>(key.min)) {
            why = "must not be empty; write it";
        }
        if (!why && character_count(*text) > key.max) {
            why = fmt::format("must be at most {} characters long; shorten it", key.max);
        }
        if (!why) return text;
        fields.reject(key.name(), *why);
        return std::nullopt;
    }

    static std::optional<std::vector<std::string>> read_texts(const Key& key, YamlFields& fields) {
        auto texts = fields.texts(key.name(), static_cast<std::size_t>(key.max));
        if (!texts) return std::nullopt;
        if (std::ranges::find(*texts, "") != texts->end()) {
            fields.reject(key.name(), "holds an empty text; write something there, or remove it");
            return std::nullopt;
        }
        if (texts->size() >= static_cast<std::size_t>(key.min)) return texts;
        fields.reject(
            key.name(),
            key.fallback.empty()
                ? fmt::format("names none; list some, as in `{}: {}`", key.name(), key.example)
                : fmt::format("names none; list some, or leave the key out for {}", key.fallback));
        return std::nullopt;
    }

    static std::optional<std::vector<std::string>> read_command(const Key& key,
                                                                YamlFields& fields) {
        const auto name = key.name();
        const auto words_max = static_cast<std::size_t>(key.max);
        auto words = fields.texts(name, words_max);
        if (!words) return std::nullopt;
        if (fields.node(name)->kind == YamlNode::Kind::text) {
            auto split = split_words(words->front());
            if (!split) {
                fields.reject(name, split.error().message);
                return std::nullopt;
            }
            words = std::move(*split);
        }
        if (words->empty() || words->front().empty()) {
            fields.reject(name, key.presence == Presence::required
                                    ? "names no program; write it first"
                                    : "names no program; write it first, or leave the key out");
            return std::nullopt;
        }
        if (words->size() > words_max) {
            fields.reject(
                name, fmt::format("is longer than {} words; put them into a script", words_max));
            return std::nullopt;
        }
        return words;
    }

    const KeyTable& table_;
    const ConfigPlace& place_;
    FileProblems& problems_;
    KeyValues values_;
};

}  // namespace

const KeyValues::Items* KeyValues::find_items(std::string_view path) const {
    const auto found =
        std::ranges::find(items, path, [](const Items& list) { return list.key->path; });
    return found == items.end() ? nullptr : &*found;
}

TextPlace KeyValues::place_of(std::string_view path) const {
    const auto found = std::ranges::find(settings, path, &Setting::path);
    constexpr TextPlace beginning{.line = 1, .column = 1};
    return found == settings.end() ? beginning : found->place.value_or(beginning);
}

KeyValues read_keys(const KeyTable& table, const YamlNode& map, std::string_view section,
                    std::string_view at, const ConfigPlace& place, FileProblems& problems) {
    KeyReader reader(table, place, problems);
    reader.read(map, section, at);
    return reader.take();
}

KeyValues read_item(const KeyTable& table, const YamlNode& map, std::string_view section,
                    std::size_t number, const ConfigPlace& place, FileProblems& problems) {
    return read_keys(table, map, section, item_path(section, number), place, problems);
}

std::string item_path(std::string_view section, std::size_t number) {
    constexpr std::string_view any = "[].";
    return fmt::format("{}[{}].", section.substr(0, section.size() - any.size()), number);
}

}  // namespace knell
