#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/session_json.hpp"

namespace knell::wire {

inline void put(JsonObject& object, std::string_view name, std::string_view value) {
    if (!value.empty()) object[name] = value;
}
inline void put(JsonObject& object, std::string_view name, WallTime value) {
    object[name] = format_rfc3339(value);
}

/// The sink of wire/fields.hpp that makes an object.
class ObjectSink {
  public:
    explicit ObjectSink(JsonObject& object) : object_(object) {}

    void text(std::string_view name, std::string_view value) { put(object_, name, value); }
    void number(std::string_view name, std::int64_t value) { object_[name] = value; }
    void flag(std::string_view name, bool value) { object_[name] = value; }
    void time(std::string_view name, WallTime value) { put(object_, name, value); }
    void words(std::string_view name, const std::vector<std::string>& value) {
        object_[name] = JsonArray(value.begin(), value.end());
    }
    void leftovers(std::string_view name, const std::vector<Leftover>& value) {
        if (!value.empty()) object_[name] = to_json(value);
    }
    void json(std::string_view name, std::string_view text) {
        if (auto value = parse_json(text)) object_[name] = std::move(*value);
    }
    template <typename List>
    void object(std::string_view name, List list) {
        JsonObject inner;
        ObjectSink sink(inner);
        list(sink);
        object_[name] = std::move(inner);
    }
    template <typename Item, typename List>
    void objects(std::string_view name, const std::vector<Item>& items, List list) {
        if (items.empty()) return;
        JsonArray array;
        for (const auto& item : items) {
            JsonObject inner;
            ObjectSink sink(inner);
            list(sink, item);
            array.push_back(std::move(inner));
        }
        object_[name] = std::move(array);
    }

  private:
    JsonObject& object_;
};

}  // namespace knell::wire
