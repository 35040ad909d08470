#include "wire/field_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/limits.hpp"

namespace knell::wire {

std::string_view json_type(FieldType type) {
    switch (type) {
        case FieldType::text:
        case FieldType::content:
        case FieldType::word:
        case FieldType::id:
        case FieldType::time:
        case FieldType::choice:
            return "string";
        case FieldType::integer:
            return "integer";
        case FieldType::number:
            return "number";
        case FieldType::boolean:
            return "boolean";
        case FieldType::object:
            return "object";
        case FieldType::array:
            return "array";
        case FieldType::any:
            return "any";
    }
    return {};
}

namespace {

bool is_word(std::string_view text) {
    return std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_' || c == '-';
    });
}

}  // namespace

std::string FieldReader::path() const {
    if (outer_ == nullptr) return std::string(name_);
    const auto index = index_ ? fmt::format("[{}]", *index_) : std::string{};
    return fmt::format("{}{}{}.", outer_->path(), name_, index);
}

void FieldReader::reject(std::string_view name, std::string why) {
    if (error()) return;
    auto* outermost = this;
    while (outermost->outer_ != nullptr) outermost = outermost->outer_;
    outermost->error_ = bad_field(path() + std::string(name), std::move(why)).error();
}

const Json* FieldReader::find(const Field& field) const {
    note(field);
    const auto* value = object_.if_contains(field.name);
    return value == nullptr || value->is_null() ? nullptr : value;
}

std::string FieldReader::any_text(const Field& field) {
    const auto* value = find(field);
    if (value == nullptr) return {};
    if (!value->is_string()) {
        reject(field.name, "must be a string");
        return {};
    }
    return std::string(std::string_view(value->get_string()));
}

std::string FieldReader::text(const Field& field) {
    if (field.required && !has(field)) missing(field);
    auto value = any_text(field);
    // A message may be empty, but it must be there.
    if (field.type == FieldType::content) return value;
    const auto bytes_max =
        field.max > 0 ? static_cast<std::size_t>(field.max) : limits::word_bytes_max;
    if (value.size() > bytes_max) {
        reject(field.name,
               fmt::format("is {} bytes long; at most {} are allowed", value.size(), bytes_max));
    } else if (has_control_character(value)) {
        reject(field.name, "must not hold control characters");
    } else if (field.type == FieldType::word && !is_word(value)) {
        reject(field.name, "may hold only letters, digits and ._-");
    } else if (value.empty() && !field.may_be_empty && has(field)) {
        reject(field.name,
               field.required ? "must not be empty" : "must not be empty; leave it out instead");
    }
    return value;
}

SessionId FieldReader::id(const Field& field) {
    if (!has(field)) {
        if (field.required) missing(field);
        return {};
    }
    auto value = any_text(field);
    if (error()) return {};
    if (auto why = why_not_an_id(value)) {
        reject(field.name, std::move(*why));
        return {};
    }
    return SessionId(std::move(value));
}

std::optional<std::int64_t> FieldReader::integer(const Field& field) {
    const auto* value = find(field);
    if (value == nullptr) {
        if (field.required) missing(field);
        return std::nullopt;
    }
    boost::system::error_code inexact;
    const auto number = value->to_number<std::int64_t>(inexact);
    if (!value->is_number() || inexact) {
        reject(field.name, "must be a whole number");
        return std::nullopt;
    }
    if (number < field.min || number > field.max) {
        reject(field.name, fmt::format("must be between {} and {}", field.min, field.max));
        return std::nullopt;
    }
    return number;
}

std::optional<bool> FieldReader::boolean(const Field& field) {
    const auto* value = find(field);
    if (value == nullptr) {
        if (field.required) missing(field);
        return std::nullopt;
    }
    if (!value->is_bool()) {
        reject(field.name, "must be true or false");
        return std::nullopt;
    }
    return value->get_bool();
}

std::optional<std::size_t> FieldReader::choice(const Field& field) {
    const auto given = text(field);
    if (given.empty()) return std::nullopt;
    const auto found = std::ranges::find(field.choices, given);
    if (found != field.choices.end()) {
        return static_cast<std::size_t>(found - field.choices.begin());
    }
    std::string all;
    for (const auto known : field.choices) {
        if (!known.empty()) all += (all.empty() ? "" : ", ") + std::string(known);
    }
    reject(field.name, "is not one of " + all);
    return std::nullopt;
}

const JsonObject* FieldReader::object(const Field& field) {
    const auto* value = find(field);
    if (value == nullptr) return nullptr;
    if (!value->is_object()) reject(field.name, "must be an object");
    return value->if_object();
}

std::string FieldReader::json(const Field& field) {
    const auto* value = object(field);
    if (value == nullptr) return {};
    auto given = wire::to_text(*value);
    if (given.size() > static_cast<std::size_t>(field.max)) {
        reject(field.name,
               fmt::format("is {} bytes as JSON; at most {} are allowed", given.size(), field.max));
    }
    return given;
}

const JsonArray* FieldReader::array(const Field& field) {
    const auto* value = find(field);
    if (value != nullptr && !value->is_array()) reject(field.name, "must be an array");
    const auto* given = value == nullptr ? nullptr : value->if_array();
    const auto size = given == nullptr ? 0 : static_cast<std::int64_t>(given->size());
    if (size < field.min && (given != nullptr || field.required)) {
        reject(field.name, fmt::format("must be an array with at least one {}", field.unit));
        return nullptr;
    }
    if (field.max > 0 && size > field.max) {
        reject(field.name, fmt::format("holds {} {}s; at most {} are allowed in a call", size,
                                       field.unit, field.max));
        return nullptr;
    }
    return given;
}

}  // namespace knell::wire
