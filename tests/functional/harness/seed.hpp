#pragma once

#include <cstdint>

namespace knell::functional {

/// Of a test that goes at random: $KNELL_TEST_SEED to repeat one, else a fresh one to be printed.
std::uint64_t choose_seed();

}  // namespace knell::functional
