#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "engine/live_table.hpp"

namespace knell {

/// The open session of a key, in O(1).  Nothing keeps clients from opening several with one key:
/// then it is the newest.  Only those keys cost more than an entry of the index: a crowd under one
/// key must not make the index slow for all.  Sessions without a key, and those whose key a newer
/// one took, are not in it.
class KeyIndex {
  public:
    Slot find(const LiveTable& table, std::string_view key) const;
    /// While it is in the table, and so for the next.
    void insert(const LiveTable& table, Slot slot);
    void erase(const LiveTable& table, Slot slot);
    /// How many keys have an open session.
    std::size_t size() const { return newest_.size(); }

  private:
    using Crowd = std::set<std::pair<Ordinal, Slot>>;

    SlotIndex newest_;                               // of each key
    std::unordered_map<std::string, Crowd> crowds_;  // of keys that have several: all of them
};

}  // namespace knell
