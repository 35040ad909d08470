#pragma once

#include <memory>
#include <optional>

#include "lab.hpp"
#include "row_copier.hpp"

namespace knell::bench {

// As proposed for agents' own session tables.
inline constexpr double reaper_stale_s = 90;
inline constexpr double reaper_every_s = 60;

/// Sessions in SQLite with a column for the last heartbeat.  Time is handed in, in seconds.
class ReaperStore {
  public:
    /// `others` live sessions that never become stale.
    ReaperStore(const Lab& lab, std::size_t others);

    /// Opens `count` sessions whose last heartbeat is at `at`; gives the first one's id.
    std::int64_t open(std::size_t count, std::int64_t at);
    /// One durable transaction, as the agent's loop would do it.
    void beat(std::int64_t id, std::int64_t at);
    /// Ends what is stale, durably; gives how many that were.
    int sweep(std::int64_t now);

  private:
    const std::unique_ptr<TemporaryDirectory> home_;
    std::optional<RawDatabase> database_;
    std::unique_ptr<RawStatement> beat_;
    std::unique_ptr<RawStatement> sweep_;
};

}  // namespace knell::bench
