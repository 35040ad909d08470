#pragma once

#include <atomic>
#include <cstddef>

namespace knell::net {

/// How many clients are connected, by whatever protocol: they share the descriptors.  Counted on
/// the loop's thread; asked by any.
class ClientCount {
  public:
    explicit ClientCount(std::size_t clients_max) : max_(clients_max) {}

    bool is_full() const { return open_ >= max_; }
    void enter() { ++open_; }
    void leave() { --open_; }

    std::size_t open() const { return open_; }
    std::size_t max() const { return max_; }

  private:
    const std::size_t max_;
    std::atomic<std::size_t> open_{0};
};

}  // namespace knell::net
