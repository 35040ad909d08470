#pragma once

#include <optional>
#include <string>

#include "store/store.hpp"
#include "wire/field_reader.hpp"
#include "wire/json.hpp"

/// What the methods that list sessions have in common.
namespace knell::rpc {

/// Where a page begins, by what the page before gave as `next`; "": with the newest.
std::optional<Ordinal> read_cursor(wire::FieldReader& given, const std::string& cursor);

JsonObject render_page(const SessionPage& page);

}  // namespace knell::rpc
