#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/event_filter.hpp"

namespace knell {

/// A hook directory as it is to be run.
struct HookSpec {
    std::string name;
    std::string description;
    std::string directory;  // absolute; the hook runs in it
    EventFilter events;
    std::vector<std::string> argv;   // absolute program first; never a shell of ours
    bool is_python_handler = false;  // argv is {handler.py}: its `handle` is to be called
    std::chrono::seconds timeout{60};
    std::size_t concurrency = 1;
    std::optional<int> retries;        // of one event; none: for three days
    std::vector<std::string> remarks;  // for people: events that knell never sends

    bool operator==(const HookSpec&) const = default;
};

}  // namespace knell
