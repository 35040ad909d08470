#pragma once

#include <cstddef>

#include "core/error.hpp"

namespace knell {

/// How many descriptors clients may take, and how many the pidfds of owners and of background
/// processes; and how many hooks may be run at once.
struct Descriptors {
    std::size_t clients_max = 0;
    std::size_t owners_max = 0;
    std::size_t processes_max = 0;
    std::size_t hooks_max = 0;
};

/// Store, lock, log, threads, two hooks and a few clients: with fewer it would find no death.
inline constexpr std::size_t descriptors_min = 72;

/// As many as the system allows; an error when these are fewer than `descriptors_min`.  What the
/// daemon itself needs and what starts a hook is nobody else's.  Of the rest a quarter, or what
/// hundreds of them need, is for hooks and webhooks.  Of what is left two in five are for the
/// pidfds of owners and of background processes, three owners to a process; past three thousand of
/// them it is one in six.  Clients must crowd out neither the proof of life nor those who are to
/// hear of a death.  What has no pidfd is looked at every second.
Result<Descriptors> raise_descriptor_limit();

}  // namespace knell
