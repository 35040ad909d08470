#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rpc/backend.hpp"
#include "rpc/method.hpp"
#include "store/store.hpp"
#include "wire/field_reader.hpp"

/// What the methods that list sessions have in common.
namespace knell::rpc {

/// Where a page begins, by what the page before gave as `next`; "": with the newest.
std::optional<Ordinal> read_cursor(wire::FieldReader& given, const std::string& cursor);

/// The sessions that fit the query, read where reads are.
/// `with_folded`: the first page says how many are folded away, where any may be.
void answer_page(Call&& call, SessionQuery&& query, Backend& backend, bool with_folded = false);

/// The same of those that ended, in the order of their ends; its cursors are of another kind.
std::optional<EndPlace> read_end_cursor(wire::FieldReader& given, const std::string& cursor);
void answer_page(Call&& call, EndedQuery&& query, Backend& backend);

/// {"sessions":[...]}, with `more` behind it: members as JSON text, each with a comma before it.
wire::Rendered render_sessions(const std::vector<Session>& sessions, std::string_view more);

}  // namespace knell::rpc
