#pragma once

#include <cstddef>
#include <string_view>

#include "engine/live_table.hpp"

namespace knell {

/// The open session of a key, in O(1).  Clients may open several with one key: then it is the
/// newest, and when that ends none of the older gets the key back.  Sessions without a key, and
/// those whose key a newer one took, are not in it.
class KeyIndex {
  public:
    Slot find(const LiveTable& table, std::string_view key) const;
    /// While it is in the table, and so for the next.
    void insert(const LiveTable& table, Slot slot);
    void erase(const LiveTable& table, Slot slot);
    /// How many keys have an open session.
    std::size_t size() const { return newest_.size(); }

  private:
    SlotIndex newest_;  // of each key
};

}  // namespace knell
