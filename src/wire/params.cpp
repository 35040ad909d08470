#include "wire/params.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/limits.hpp"

namespace knell::wire {

static_assert(limits::word_bytes_max == 64);

void Params::reject(std::string_view name, std::string why) {
    if (error_) return;
    const auto field = path_ + std::string(name);
    error_ = bad_field(field, std::move(why)).error();
}

void Params::absorb(const Params& nested) {
    if (!error_) error_ = nested.error_;
}

const Json* Params::find(std::string_view name) const {
    const auto* value = object_.if_contains(name);
    return value == nullptr || value->is_null() ? nullptr : value;
}

std::string Params::text(std::string_view name, std::size_t bytes_max) {
    auto value = content(name);
    if (value.size() > bytes_max) {
        reject(name,
               fmt::format("is {} bytes long; at most {} are allowed", value.size(), bytes_max));
    } else if (has_control_character(value)) {
        reject(name, "must not hold control characters");
    }
    return value;
}

std::string Params::required_text(std::string_view name, std::size_t bytes_max) {
    auto value = text(name, bytes_max);
    if (value.empty()) missing(name);
    return value;
}

std::string Params::content(std::string_view name) {
    const auto* value = find(name);
    if (value == nullptr) return {};
    if (!value->is_string()) {
        reject(name, "must be a string");
        return {};
    }
    return std::string(std::string_view(value->get_string()));
}

std::string Params::word(std::string_view name) {
    auto value = text(name, limits::word_bytes_max);
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_' || c == '-';
    };
    if (!std::ranges::all_of(value, allowed)) {
        reject(name, "may hold only letters, digits and ._-");
    }
    return value;
}

std::string Params::required_word(std::string_view name) {
    auto value = word(name);
    if (value.empty()) missing(name);
    return value;
}

SessionId Params::id(std::string_view name) {
    const auto* value = find(name);
    if (value == nullptr) return {};
    auto text = content(name);
    if (error_) return {};
    if (auto why = why_not_an_id(text)) {
        reject(name, std::move(*why));
        return {};
    }
    return SessionId(std::move(text));
}

SessionId Params::required_id(std::string_view name) {
    if (!has(name)) missing(name);
    return id(name);
}

std::optional<std::int64_t> Params::integer(std::string_view name, std::int64_t min,
                                            std::int64_t max) {
    const auto* value = find(name);
    if (value == nullptr) return std::nullopt;
    boost::system::error_code inexact;
    const auto number = value->to_number<std::int64_t>(inexact);
    if (!value->is_number() || inexact) {
        reject(name, "must be a whole number");
        return std::nullopt;
    }
    if (number < min || number > max) {
        reject(name, fmt::format("must be between {} and {}", min, max));
        return std::nullopt;
    }
    return number;
}

std::int64_t Params::required_integer(std::string_view name, std::int64_t min, std::int64_t max) {
    if (!has(name)) missing(name);
    return integer(name, min, max).value_or(min);
}

std::optional<bool> Params::boolean(std::string_view name) {
    const auto* value = find(name);
    if (value == nullptr) return std::nullopt;
    if (!value->is_bool()) {
        reject(name, "must be true or false");
        return std::nullopt;
    }
    return value->get_bool();
}

const JsonObject* Params::object(std::string_view name) {
    const auto* value = find(name);
    if (value == nullptr) return nullptr;
    if (!value->is_object()) reject(name, "must be an object");
    return value->if_object();
}

const JsonArray* Params::array(std::string_view name) {
    const auto* value = find(name);
    if (value == nullptr) return nullptr;
    if (!value->is_array()) reject(name, "must be an array");
    return value->if_array();
}

}  // namespace knell::wire
