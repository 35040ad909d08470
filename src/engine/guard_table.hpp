#pragma once

#include <optional>
#include <unordered_map>

#include "core/guard.hpp"
#include "core/ids.hpp"

namespace knell {

/// What is known of the tool calls of open sessions, of those that reported any: memory alone.
/// By ordinal, so it stays with a session whoever owns it.  What was changed since the last settle
/// can be taken back.
class GuardTable {
  public:
    /// nullptr where nothing was reported.
    const GuardState* find(Ordinal session) const;
    void set(Ordinal session, GuardState&& state);
    void forget(Ordinal session);

    void settle() { before_.clear(); }
    void revert();

    std::size_t size() const { return states_.size(); }

  private:
    void keep_for_revert(Ordinal session);

    std::unordered_map<Ordinal, GuardState> states_;
    /// Of what was changed: as it was, once, however often it was.
    std::unordered_map<Ordinal, std::optional<GuardState>> before_;
};

}  // namespace knell
