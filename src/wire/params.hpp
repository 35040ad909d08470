#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/names.hpp"
#include "wire/json.hpp"

namespace knell::wire {

/// Reads the parameters of a call.  The first thing wrong is kept and names its field; what is read
/// after that is of no use.  A missing field and null mean the same.
class Params {
  public:
    explicit Params(const JsonObject& object, std::string path = {})
        : object_(object), path_(std::move(path)) {}

    const std::optional<Error>& error() const { return error_; }
    std::unexpected<Error> failure() const { return std::unexpected(*error_); }

    bool has(std::string_view name) const { return find(name) != nullptr; }

    /// Text of at most `bytes_max` bytes without control characters, or "" when missing.
    std::string text(std::string_view name, std::size_t bytes_max);
    std::string required_text(std::string_view name, std::size_t bytes_max);
    /// Any text, newlines included.
    std::string content(std::string_view name);
    /// A word made of letters, digits and `._-`: source, platform.
    std::string word(std::string_view name);
    std::string required_word(std::string_view name);
    SessionId id(std::string_view name);
    SessionId required_id(std::string_view name);
    std::optional<std::int64_t> integer(std::string_view name, std::int64_t min, std::int64_t max);
    std::int64_t required_integer(std::string_view name, std::int64_t min, std::int64_t max);
    std::optional<bool> boolean(std::string_view name);
    const JsonObject* object(std::string_view name);
    const JsonArray* array(std::string_view name);

    template <typename Enum, std::size_t Count>
    std::optional<Enum> choice(std::string_view name,
                               const std::array<std::string_view, Count>& names) {
        const auto given = text(name, limits_word_bytes);
        if (given.empty()) return std::nullopt;
        if (const auto value = find_in<Enum>(names, given)) return value;
        std::string all;
        for (const auto known : names) {
            if (!known.empty()) all += (all.empty() ? "" : ", ") + std::string(known);
        }
        reject(name, "is not one of " + all);
        return std::nullopt;
    }

    void reject(std::string_view name, std::string why);
    /// Takes over what went wrong in a nested reader.
    void absorb(const Params& nested);

  private:
    static constexpr std::size_t limits_word_bytes = 64;

    const Json* find(std::string_view name) const;
    void missing(std::string_view name) { reject(name, "is required"); }

    const JsonObject& object_;
    const std::string path_;  // "owner." inside the owner
    std::optional<Error> error_;
};

}  // namespace knell::wire
