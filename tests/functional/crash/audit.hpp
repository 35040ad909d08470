#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "functional/crash/load.hpp"

namespace knell::functional::crash {

/// Holds what a restarted daemon tells against what its clients were told before.  Every find is a
/// line; no finds means that all is well.
class Audit {
  public:
    /// Reads the events since the last time: numbers without holes, one start and at most one end
    /// for each generation, each start after the end of the one before.
    void read_new_events(Client& client);
    /// The session is as acknowledged, or as the unanswered call would have made it; then that is
    /// taken for acknowledged.  Its messages are all there, and its end event is there iff it
    /// ended.
    void check_session(Client& client, const std::string& id, Tracked& tracked);
    /// Each generation that was given out did start.
    void check_shared(const std::set<std::int64_t>& given);
    /// The log read from its beginning is what was read piece by piece.
    void reread_events(Client& client);

    const std::vector<std::string>& finds() const { return finds_; }
    std::size_t event_count() const { return ids_.size(); }

  private:
    struct Pair {
        int starts = 0;
        int ends = 0;
    };
    void take(const Json& event);
    void check_generations(const std::string& id, const Facts& seen);
    void find(std::string what) { finds_.push_back(std::move(what)); }

    std::vector<std::string> ids_;  // of the event with the number place + 1
    std::map<std::pair<std::string, std::int64_t>, Pair> pairs_;
    std::vector<std::string> finds_;
};

}  // namespace knell::functional::crash
