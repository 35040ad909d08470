#pragma once

#include <algorithm>
#include <array>

#include "wire/choices.hpp"
#include "wire/field.hpp"

/// How rows are written down.
namespace knell::wire::fields {

using enum FieldType;
using wire::Field;
using wire::FieldType;
using wire::names_of;
using wire::place_of;
using wire::unbounded;

constexpr Field always(std::string_view name, FieldType type, std::string_view about) {
    return {.name = name, .type = type, .required = true, .about = about};
}
constexpr Field only(std::string_view when, std::string_view name, FieldType type,
                     std::string_view about) {
    return {.name = name, .type = type, .when = when, .about = about};
}
template <typename Enum>
constexpr Field always_one_of(std::string_view name, std::string_view about) {
    auto field = always(name, FieldType::choice, about);
    field.choices = names_of<Enum>;
    return field;
}
constexpr Field always_objects(std::string_view name, std::span<const Field> fields,
                               std::string_view about) {
    auto field = always(name, FieldType::array, about);
    field.fields = fields;
    return field;
}
constexpr Field always_list(std::string_view name, FieldType items, std::string_view about) {
    auto field = always(name, FieldType::array, about);
    field.items = items;
    return field;
}
constexpr Field always_object(std::string_view name, std::span<const Field> fields,
                              std::string_view about) {
    auto field = always(name, FieldType::object, about);
    field.fields = fields;
    return field;
}
/// A row whose fields are those of a shared object.
constexpr Field with_object(Field field, std::string_view object, std::span<const Field> fields) {
    field.object = object;
    field.fields = fields;
    return field;
}

template <std::size_t first, std::size_t second>
constexpr std::array<Field, first + second> joined(const std::array<Field, first>& some,
                                                   const std::array<Field, second>& more) {
    std::array<Field, first + second> all;
    std::copy(more.begin(), more.end(), std::copy(some.begin(), some.end(), all.begin()));
    return all;
}

}  // namespace knell::wire::fields
