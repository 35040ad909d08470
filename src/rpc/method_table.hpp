#pragma once

#include <span>

#include "rpc/method.hpp"

namespace knell::rpc {

/// Every method there is.  A new one is a row in the file of its family, in rpc/methods; a new
/// family is listed here and in method_table.cpp.
std::span<const Method> methods();

std::span<const Method> session_open_methods();
std::span<const Method> session_route_methods();
std::span<const Method> session_write_methods();
std::span<const Method> session_reset_methods();
std::span<const Method> session_branch_methods();
std::span<const Method> session_why_methods();
std::span<const Method> session_read_methods();
std::span<const Method> session_find_methods();
std::span<const Method> session_attach_methods();
std::span<const Method> session_label_methods();
std::span<const Method> turn_methods();
std::span<const Method> tool_methods();
std::span<const Method> process_methods();
std::span<const Method> process_read_methods();
std::span<const Method> events_methods();
std::span<const Method> space_methods();
std::span<const Method> hooks_methods();
std::span<const Method> hooks_letters_methods();
std::span<const Method> config_methods();
std::span<const Method> node_status_methods();
std::span<const Method> node_metrics_methods();
std::span<const Method> node_methods();
std::span<const Method> rpc_methods();

}  // namespace knell::rpc
