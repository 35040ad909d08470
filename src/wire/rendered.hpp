#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.hpp"
#include "wire/json.hpp"

namespace knell::wire {

/// What a call is answered: a JSON value, or the text of one where that was put together from text
/// in the first place.  An answer of megabytes takes longer to become values than to be sent.
class Rendered {
  public:
    template <typename Value>
        requires(!std::same_as<std::remove_cvref_t<Value>, Rendered> &&
                 std::constructible_from<Json, Value>)
    Rendered(Value&& value)  // NOLINT: as any value
        : value_(Json(std::forward<Value>(value))) {}
    /// Must be JSON.
    static Rendered from_text(std::string text) {
        Rendered rendered(nullptr);
        rendered.value_ = std::move(text);
        return rendered;
    }

    std::string text() && {
        if (auto* text = std::get_if<std::string>(&value_)) return std::move(*text);
        return to_text(std::get<Json>(value_));
    }
    /// For whoever looks into it.
    operator Json() const {  // NOLINT(google-explicit-constructor)
        if (const auto* json = std::get_if<Json>(&value_)) return *json;
        auto parsed = parse_json(std::get<std::string>(value_));
        CHECK(parsed);
        return std::move(*parsed);
    }

  private:
    std::variant<Json, std::string> value_;
};

}  // namespace knell::wire
