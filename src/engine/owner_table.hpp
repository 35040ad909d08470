#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/departure.hpp"
#include "core/owner.hpp"
#include "engine/live_table.hpp"

namespace knell {

/// A process that owns open sessions, and what is known of it.
struct OwnerEntry {
    ProcessIdentity process;
    Slot first = LiveTable::none;  // of its sessions, linked through LiveSession
    std::size_t sessions = 0;
    std::size_t commands = 0;   // of these, sessions that are one command (`knell run`)
    std::size_t uncertain = 0;  // of these, sessions that are `unknown`
    bool watch_asked = false;
    bool unclear = false;  // the last look could not tell
    bool leaving = false;  // gone, but what it left behind is still being looked for
    bool gone = false;     // its sessions are being ended
    Departure departure;
    std::vector<FoundLeftovers> found;
};

/// The processes that own open sessions.  One may own any number: its death is one fact, not a
/// search.  Links are kept in the sessions themselves; this table holds the ends.
class OwnerTable {
  public:
    using Number = std::uint32_t;
    static constexpr Number none = UINT32_MAX;

    Number find(const ProcessIdentity& process) const;
    OwnerEntry& at(Number number) { return entries_[number]; }
    const OwnerEntry& at(Number number) const { return entries_[number]; }

    void link(LiveTable& table, Slot slot, const ProcessIdentity& process);
    void unlink(LiveTable& table, Slot slot);

    /// An owner gained its first or lost its last session since the last call.
    std::vector<Number> take_touched();
    /// Forgets an owner without sessions.
    void drop(Number number);

    template <typename Visit>
    void for_each(Visit&& visit) const {
        for (const auto& [key, number] : by_process_) visit(entries_[number]);
    }

  private:
    struct Key {
        std::int32_t pid;
        std::uint64_t start_ticks;
        std::uint64_t pid_namespace;
        std::string boot_id;
        bool operator==(const Key&) const = default;
    };
    struct HashKey {
        std::size_t operator()(const Key& key) const {
            return std::hash<std::uint64_t>{}(key.start_ticks * 1'000'003U +
                                              static_cast<std::uint64_t>(key.pid));
        }
    };
    static Key key_of(const ProcessIdentity& process) {
        return {process.pid, process.start_ticks, process.pid_namespace, process.boot_id};
    }

    std::vector<OwnerEntry> entries_;
    std::vector<Number> free_;
    std::unordered_map<Key, Number, HashKey> by_process_;
    std::vector<Number> touched_;
};

}  // namespace knell
