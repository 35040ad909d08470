#pragma once

#include <string>
#include <string_view>

#include <boost/json.hpp>

#include "core/error.hpp"

namespace knell {

/// JSON values everywhere above the store.  Boost.JSON keeps the order of keys, which makes
/// transcripts readable.
using Json = boost::json::value;
using JsonObject = boost::json::object;
using JsonArray = boost::json::array;

namespace wire {

/// Strict: UTF-8 only, at most limits::json_depth_max deep, nothing after the value, no number that
/// is too large for a double: the error says where.
Result<Json> parse_json(std::string_view text);

std::string to_text(const Json& value);
/// Two-space indentation, for people.
std::string to_pretty_text(const Json& value);

/// The string under `name`, or "" when missing or not a string.
std::string_view text_at(const JsonObject& object, std::string_view name);
/// The integer under `name`, or `fallback`.
std::int64_t int_at(const JsonObject& object, std::string_view name, std::int64_t fallback = 0);
bool bool_at(const JsonObject& object, std::string_view name);
/// The object under `name`, or nullptr.
const JsonObject* object_at(const JsonObject& object, std::string_view name);
const JsonArray* array_at(const JsonObject& object, std::string_view name);

}  // namespace wire
}  // namespace knell
