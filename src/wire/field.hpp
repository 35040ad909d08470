#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

/// What a method takes and what it answers, as rows.  Reading a call (wire/given.hpp),
/// `rpc.describe` and the tables of docs/rpc.md all come from them, so a bound, a default or a
/// required field stands once.
namespace knell::wire {

enum class FieldType : std::uint8_t {
    text,     // one line, at most `max` bytes
    content,  // any text, newlines included
    word,     // letters, digits and ._-
    id,       // of a session
    time,     // RFC 3339; only in results
    integer,
    number,  // with a fraction; only in results
    boolean,
    choice,  // one of `choices`
    object,  // of `fields`; without them, whatever the client likes
    array,   // of `items`
    any,     // whatever JSON there is
};

struct Field {
    std::string_view name;
    FieldType type = FieldType::text;
    bool required = false;      // of a result: always there
    bool may_be_empty = false;  // of a text: "" says something; that of any other is refused
    /// Of an integer its value; of a text and of an object without fields the bytes; of an array
    /// how many there are.  No bound where `max` is 0.
    std::int64_t min = 0;
    std::int64_t max = 0;
    /// What stands for a missing one: an integer, a boolean as 0 or 1, a choice by its place.
    std::optional<std::int64_t> standard = {};
    std::span<const std::string_view> choices = {};  // of a choice, or of an array of them
    std::span<const Field> fields = {};              // of an object, or of an array of them
    FieldType items = FieldType::object;             // of an array
    std::string_view object = {};                    // what these fields are together: "session"
    std::string_view unit = {};                      // what an array holds: "message"
    std::string_view when = {};                      // of a result that is not always there
    std::string_view about;
};

/// As JSON has it: "string", "integer", "number", "boolean", "object", "array" or "any".
std::string_view json_type(FieldType type);

/// A sequence number, an ordinal, a time in milliseconds.
inline constexpr std::int64_t unbounded = INT64_MAX;

}  // namespace knell::wire
