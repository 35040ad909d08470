#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "wire/choices.hpp"
#include "wire/field_reader.hpp"

namespace knell::wire {

/// A name as a template argument: `given.get<"limit">()`.
template <std::size_t size>
struct FieldName {
    // NOLINTNEXTLINE(google-explicit-constructor,modernize-avoid-c-arrays)
    consteval FieldName(const char (&name)[size]) { std::copy_n(name, size, text); }
    constexpr std::string_view view() const { return {text, size - 1}; }
    char
        text[size];  // NOLINT(modernize-avoid-c-arrays): a template argument may hold no std::array
};

/// What a call gives of the rows in `table`.  A name that is not in the table, or a value that is
/// asked for by another type than its row has, does not compile; rows that nobody asks for are
/// found by a test (rpc/fields_test.cpp).
template <const auto& table>
class Given : public FieldReader {
  public:
    using FieldReader::FieldReader;

    template <FieldName name>
    bool has() const {
        return FieldReader::has(row<name>());
    }

    /// A text, word or message as std::string, an id as SessionId, an integer, a boolean.  What is
    /// missing is "" or the row's default; where it has none, a number or a boolean is optional.
    template <FieldName name>
    auto get() {
        constexpr const Field& field = row<name>();
        if constexpr (field.type == FieldType::id) {
            return id(field);
        } else if constexpr (field.type == FieldType::integer) {
            return or_standard<name>(integer(field));
        } else if constexpr (field.type == FieldType::boolean) {
            return or_standard<name>(boolean(field));
        } else if constexpr (field.type == FieldType::object) {
            static_assert(field.fields.empty(), "it has fields: object<name, fields>()");
            return json(field);
        } else {
            static_assert(field.type == FieldType::text || field.type == FieldType::content ||
                              field.type == FieldType::word,
                          "choice<Enum, name>(), object<name, fields>() or each<name, fields>()");
            return text(field);
        }
    }

    /// A number as the type that it is kept as.
    template <typename Number, FieldName name>
    Number get_as() {
        constexpr const Field& field = row<name>();
        static_assert(field.required || field.standard, "it may be missing: get<name>()");
        if constexpr (std::is_integral_v<Number>) {
            static_assert(std::in_range<Number>(field.min) && std::in_range<Number>(field.max));
        }
        return static_cast<Number>(get<name>());
    }

    template <typename Enum, FieldName name>
    auto choice() {
        constexpr const Field& field = row<name>();
        static_assert(field.type == FieldType::choice);
        static_assert(field.choices.data() == names_of<Enum>.data(), "the names of another enum");
        const auto place = FieldReader::choice(field);
        if constexpr (field.standard.has_value()) {
            return static_cast<Enum>(
                place.value_or(static_cast<std::size_t>(field.standard.value())));
        } else {
            return place.transform([](std::size_t found) { return static_cast<Enum>(found); });
        }
    }

    template <FieldName name, const auto& fields>
    std::optional<Given<fields>> object() {
        constexpr const Field& field = row<name>();
        static_assert(field.type == FieldType::object && field.fields.data() == fields.data());
        const auto* inner = FieldReader::object(field);
        if (inner == nullptr) return std::nullopt;
        return std::optional<Given<fields>>(std::in_place, *inner, *this, field.name);
    }

    /// One whose names are the client's own; nullptr when missing.
    template <FieldName name>
    const JsonObject* any_object() {
        constexpr const Field& field = row<name>();
        static_assert(field.type == FieldType::object && field.fields.empty());
        return FieldReader::object(field);
    }

    /// Whatever it is; nullptr when missing.
    template <FieldName name>
    const Json* any() {
        constexpr const Field& field = row<name>();
        static_assert(field.type == FieldType::any);
        return FieldReader::any(field);
    }

    /// nullptr when missing, or not within its bounds.
    template <FieldName name>
    const JsonArray* array() {
        constexpr const Field& field = row<name>();
        static_assert(field.type == FieldType::array);
        return FieldReader::array(field);
    }

    /// Reads one object after the other, until something is wrong.
    template <FieldName name, const auto& fields, typename Read>
    void each(const JsonArray& objects, Read read) {
        constexpr const Field& field = row<name>();
        static_assert(field.type == FieldType::array && field.fields.data() == fields.data());
        for (std::size_t i = 0; i < objects.size() && !error(); ++i) {
            if (const auto* one = objects[i].if_object()) {
                Given<fields> inner(*one, *this, field.name, i);
                read(inner);
            } else {
                reject(std::string(field.name) + "[" + std::to_string(i) + "]",
                       "must be an object");
            }
        }
    }

  private:
    template <FieldName name>
    static consteval const Field& row() {
        const auto* found = std::ranges::find(table, name.view(), &Field::name);
        if (found == table.end()) throw "no row of the table has this name";
        return *found;
    }

    template <FieldName name, typename Value>
    static auto or_standard(std::optional<Value> value) {
        constexpr const Field& field = row<name>();
        if constexpr (field.standard.has_value()) {
            return value.value_or(static_cast<Value>(field.standard.value()));
        } else if constexpr (field.required) {
            return value.value_or(static_cast<Value>(field.min));
        } else {
            return value;
        }
    }
};

}  // namespace knell::wire
