#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "foreign/hermes/records.hpp"

/// The JSON files beside state.db.  Pure: `path` is for errors.  Entries that lack what names them
/// are left out.
namespace knell::hermes {

Result<std::vector<RoutingEntry>> parse_sessions_json(std::string_view text,
                                                      const std::string& path);
Result<std::vector<ProcessEntry>> parse_processes_json(std::string_view text,
                                                       const std::string& path);
/// runtime/active_sessions.json: which process shows which session.
Result<std::vector<OwnerEntry>> parse_active_sessions(std::string_view text,
                                                      const std::string& path);
/// gateway.pid: a record, or a number alone.
Result<std::vector<OwnerEntry>> parse_gateway_pid(std::string_view text, const std::string& path);

}  // namespace knell::hermes
