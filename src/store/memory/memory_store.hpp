#pragma once

#include <memory>

#include "store/store.hpp"

namespace knell {

/// A store that forgets with the process.  For tests and simulations; same contract as the others.
std::unique_ptr<Store> make_memory_store();

}  // namespace knell
