#pragma once

#include "rpc/dispatcher.hpp"

namespace knell::rpc {

/// session.why: verdict and evidence, every transition with cause and time, what would end the
/// session and when.
void why(Call&& call, Backend& backend);

}  // namespace knell::rpc
