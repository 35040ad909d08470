#pragma once

#include <span>

#include "rpc/method.hpp"

/// Families that look at much of what is kept at once; method_table.cpp lists them.
namespace knell::rpc {

std::span<const Method> session_search_methods();
std::span<const Method> node_stats_methods();

}  // namespace knell::rpc
