#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "config/key_reader.hpp"

/// Which member holds what a key says.  Each struct that is read by a key table has one array of
/// bindings, and a static_assert that every key of its section is in it, once and by its type.
namespace knell {

/// Where a key's value goes in a Target.
template <typename Target>
struct Binding {
    std::string_view path;
    KeyType type;  // of those that are kept alike, the first (see `kept_as`)
    void (*set)(Target&, Value&&);
};

namespace binding {

/// What a value of that type is kept as; several members may be.
template <KeyType type>
struct Kept;
template <>
struct Kept<KeyType::integer> : std::type_identity<std::int64_t> {};
template <>
struct Kept<KeyType::duration> : std::type_identity<std::chrono::seconds> {};
template <>
struct Kept<KeyType::boolean> : std::type_identity<bool> {};
template <>
struct Kept<KeyType::text> : std::type_identity<std::string> {};
template <>
struct Kept<KeyType::texts> : std::type_identity<std::vector<std::string>> {};

/// Keys of several types may be kept in a member of the same.
constexpr KeyType kept_as(KeyType type) {
    if (type == KeyType::path || type == KeyType::prose || type == KeyType::time_of_day) {
        return KeyType::text;
    }
    return type == KeyType::command ? KeyType::texts : type;
}

/// An optional member is set by a key that is written or has a default.
template <typename Member>
struct Plain : std::type_identity<Member> {};
template <typename Member>
struct Plain<std::optional<Member>> : std::type_identity<Member> {};

template <typename Member>
consteval KeyType type_for() {
    if constexpr (std::same_as<Member, bool>)
        return KeyType::boolean;
    else if constexpr (std::integral<Member>)
        return KeyType::integer;
    else if constexpr (std::same_as<Member, std::string>)
        return KeyType::text;
    else if constexpr (std::same_as<Member, std::vector<std::string>>)
        return KeyType::texts;
    else
        return KeyType::duration;
}

template <typename Target, typename Member>
Target target_of(Member Target::*);

template <typename Object, typename Pointer, typename... Rest>
constexpr auto& member_of(Object& object, Pointer pointer, Rest... rest) {
    if constexpr (sizeof...(rest) == 0)
        return object.*pointer;
    else
        return member_of(object.*pointer, rest...);
}

/// A key of the section itself, not of the items of a list in it.
constexpr bool is_bound_in(const Key& key, std::string_view section) {
    return key.type != KeyType::items && key.path.starts_with(section) &&
           !key.path.substr(section.size()).contains("[]");
}

}  // namespace binding

/// `bind<&Config::events, &Retention::keep_count>("events.keep_count")`
template <auto First, auto... Rest>
consteval auto bind(std::string_view path) {
    using Target = decltype(binding::target_of(First));
    using Member = typename binding::Plain<std::remove_reference_t<decltype(binding::member_of(
        std::declval<Target&>(), First, Rest...))>>::type;
    constexpr auto type = binding::type_for<Member>();
    return Binding<Target>{path, type, [](Target& target, Value&& value) {
                               auto& member = binding::member_of(target, First, Rest...);
                               auto& kept = std::get<typename binding::Kept<type>::type>(value);
                               if constexpr (type == KeyType::duration) {
                                   member = std::chrono::duration_cast<Member>(kept);
                               } else if constexpr (type == KeyType::integer) {
                                   member = static_cast<Member>(kept);
                               } else {
                                   member = std::move(kept);
                               }
                           }};
}

/// For the static_assert: what the table has for `section`, neither more nor less.
template <typename Target, std::size_t count>
consteval bool binds_all_of(const std::array<Binding<Target>, count>& bindings,
                            const KeyTable& table, std::string_view section) {
    std::size_t bound = 0;
    for (const auto& key : table.keys) {
        if (!binding::is_bound_in(key, section)) continue;
        const auto type = binding::kept_as(key.type);
        if (std::ranges::count(bindings, key.path, &Binding<Target>::path) != 1) return false;
        if (std::ranges::find(bindings, key.path, &Binding<Target>::path)->type != type)
            return false;
        ++bound;
    }
    return bound == count;
}

template <typename Target, std::size_t count>
void apply(const std::array<Binding<Target>, count>& bindings, const KeyValues& values,
           Target& target) {
    for (const auto& setting : values.settings) {
        const auto found = std::ranges::find(bindings, setting.key->path, &Binding<Target>::path);
        CHECK(found != bindings.end());
        found->set(target, Value(setting.value));
    }
}

}  // namespace knell
