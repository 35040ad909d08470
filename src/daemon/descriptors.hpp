#pragma once

#include <cstddef>

#include "core/error.hpp"

namespace knell {

/// How many descriptors clients may take, and how many the owners' pidfds.
struct Descriptors {
    std::size_t clients_max = 0;
    std::size_t owners_max = 0;
};

/// Store, lock, log, threads, hooks and a few clients: with fewer it would find no death.
inline constexpr std::size_t descriptors_min = 48;

/// As many as the system allows; an error when these are fewer than `descriptors_min`.  Two in five
/// of them are for the owners' pidfds: clients must not crowd out the proof of life, nor that proof
/// what the daemon itself needs.
Result<Descriptors> raise_descriptor_limit();

}  // namespace knell
