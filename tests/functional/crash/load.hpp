#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "functional/harness/client.hpp"

namespace knell::functional::crash {

/// What can be seen of a session from outside.
struct Facts {
    std::int64_t generation = 0;  // 0: there is no such session
    bool open = false;
    bool turn = false;
    std::int64_t messages = 0;

    bool operator==(const Facts&) const = default;
};

/// A session as the answers so far say it is.  While a call is unanswered it may have been done or
/// not, but nothing in between.
struct Tracked {
    Facts acknowledged;
    std::optional<Facts> unanswered;
};

/// The content of a session's n-th message.
std::string message_text(const std::string& session, std::int64_t place);

/// One client that works on sessions of its own, one call at a time, and remembers each answer.
/// Now and then it takes over a session that all of them want.
class Worker {
  public:
    Worker(std::string name, std::uint64_t seed) : name_(std::move(name)), random_(seed) {}

    /// Works until the daemon is gone; each answer is counted in `answers`.
    void run(Client client, std::atomic<std::int64_t>& answers);

    std::map<std::string, Tracked>& sessions() { return sessions_; }
    /// Those that changed, or may have, since this was last called.
    std::set<std::string> take_touched() { return std::exchange(touched_, {}); }
    /// Generations of the shared session that were given to this worker.
    const std::set<std::int64_t>& taken_over() const { return taken_over_; }
    /// Answers that no client should ever get.
    const std::vector<std::string>& surprises() const { return surprises_; }

  private:
    bool step(Client& client);
    std::string new_id();
    bool create(Client& client, const std::string& id);
    bool append(Client& client, const std::string& id);
    bool flip_turn(Client& client, const std::string& id);
    bool close(Client& client, const std::string& id);
    bool resume(Client& client, const std::string& id);
    bool take_over(Client& client);
    /// Makes the call; false when the daemon is gone.
    bool change(Client& client, const std::string& id, std::string_view method,
                const std::string& params, const Facts& after);
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

    const std::string name_;
    std::mt19937_64 random_;
    std::map<std::string, Tracked> sessions_;
    std::vector<std::string> current_;  // the few it works on; older ones rest
    std::set<std::string> touched_;
    std::set<std::int64_t> taken_over_;
    std::vector<std::string> surprises_;
};

inline constexpr auto shared_session = "shared";

}  // namespace knell::functional::crash
