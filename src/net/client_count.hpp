#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace knell::net {

/// How many clients are connected, by whatever protocol: they share the descriptors.  Counted on
/// the loop's thread; asked by any.
class ClientCount {
  public:
    explicit ClientCount(std::size_t clients_max) : max_(clients_max) {}

    bool is_full() const { return open_ >= max_; }
    /// How many of them may come over the network: one place in four, or hundreds, are for the unix
    /// socket, whoever crowds in there.
    std::size_t network_max() const { return max_ - std::min(max_ / 4, unix_places_enough); }
    void enter() { ++open_; }
    void leave() { --open_; }

    std::size_t open() const { return open_; }
    std::size_t max() const { return max_; }

  private:
    static constexpr std::size_t unix_places_enough = 512;

    const std::size_t max_;
    std::atomic<std::size_t> open_{0};
};

}  // namespace knell::net
