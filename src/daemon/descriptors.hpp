#pragma once

#include <cstddef>

namespace knell {

/// How many descriptors clients may take, and how many the owners' pidfds.
struct Descriptors {
    std::size_t clients_max = 0;
    std::size_t owners_max = 0;
};

/// As many as the system allows.  Two in five of them are for the owners' pidfds: clients must not
/// crowd out the proof of life, nor that proof what the daemon itself needs.
Descriptors raise_descriptor_limit();

}  // namespace knell
