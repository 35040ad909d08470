#pragma once

#include <span>

#include "rpc/method.hpp"

namespace knell::rpc {

/// session.stop and session.adopt.
std::span<const Method> session_stop_methods();

}  // namespace knell::rpc
