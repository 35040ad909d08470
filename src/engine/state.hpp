#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "engine/live_table.hpp"
#include "store/batch.hpp"
#include "store/store.hpp"

namespace knell {

/// What the engine knows: the open sessions and where the numbering stands.  Changed only by
/// `apply`, so memory takes the same changes as the store; since memory is ahead of the store until
/// the batch is committed, `revert` takes a failed batch back whole.  One thread.
class State {
  public:
    /// At start, from the store.
    void set_heads(Heads heads) { heads_ = heads_before_ = heads; }
    void adopt(const Session& session);

    const LiveSession* find(const SessionId& id) const;
    const Realms& realms() const { return realms_; }
    Heads heads() const { return heads_; }
    std::size_t open_count() const { return table_.size(); }
    std::size_t running_count() const { return running_; }

    /// The one door.  `change` was decided on this very state.
    void apply(const Change& change);
    void number(Event& event) { event.seq = ++heads_.seq; }

    /// Ended since the last settle: its row is not readable from the store yet.
    bool ended_in_batch(const SessionId& id) const { return ended_.contains(id); }

    void settle();
    void revert();

  private:
    /// What a session was before a change: absent (it was opened), or as it is here.
    struct Undo {
        SessionId id;
        std::optional<LiveSession> before;
    };

    void open(const Opened& change);
    void open(const Reopened& change);
    void end(const Ended& change);
    void append(const Appended& change);
    void set_turn(const TurnSet& change);
    /// The live session `id`, its present self kept for `revert`.
    LiveSession& touch(const SessionId& id);
    void insert(const Session& session);

    LiveTable table_;
    Realms realms_;
    Heads heads_;
    std::size_t running_ = 0;

    // Of the batch that is being decided.
    std::vector<Undo> undo_;
    std::unordered_set<SessionId> ended_;
    Heads heads_before_;
    std::size_t running_before_ = 0;
};

}  // namespace knell
