#include "functional/harness/seed.hpp"

#include <string>

#include "platform/environment.hpp"
#include "platform/random.hpp"

namespace knell::functional {

std::uint64_t choose_seed() {
    const auto given = environment_variable("KNELL_TEST_SEED");
    return given.empty() ? random_bits()[0] : std::stoull(given);
}

}  // namespace knell::functional
