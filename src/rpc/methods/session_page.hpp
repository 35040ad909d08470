#pragma once

#include <optional>
#include <string>

#include "rpc/backend.hpp"
#include "rpc/method.hpp"
#include "store/store.hpp"
#include "wire/field_reader.hpp"

/// What the methods that list sessions have in common.
namespace knell::rpc {

/// Where a page begins, by what the page before gave as `next`; "": with the newest.
std::optional<Ordinal> read_cursor(wire::FieldReader& given, const std::string& cursor);

/// The sessions that fit the query, read where reads are.
void answer_page(Call&& call, SessionQuery&& query, Backend& backend);

}  // namespace knell::rpc
