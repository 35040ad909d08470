#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/time.hpp"

namespace knell::net::http {

/// Slows down whoever guesses tokens: each wrong one from an address is answered later than the one
/// before, up to a bound.  A right one is never delayed, wherever it comes from: on loopback
/// everybody has the same address.
///
/// Remembers so many addresses; past them the one that was quiet the longest is forgotten.
class AuthThrottle {
  public:
    explicit AuthThrottle(std::size_t addresses_max) : addresses_max_(addresses_max) {}

    /// A wrong token came from there: how long its answer has to wait.
    std::chrono::milliseconds failed(const std::string& address, SteadyTime now);

    std::size_t size() const { return by_address_.size(); }

  private:
    struct Entry {
        std::string address;
        std::size_t failures = 0;
        SteadyTime last;
    };
    using Entries = std::list<Entry>;

    const std::size_t addresses_max_;
    Entries entries_;  // the last that failed is the first
    std::unordered_map<std::string_view, Entries::iterator> by_address_;
};

}  // namespace knell::net::http
