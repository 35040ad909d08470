#pragma once

#include <string>

namespace knell {

/// How far the stop of a background process is, beside what is on record.
struct StopState {
    bool is_stopping = false;  // it, or something that belongs to it
    std::string left;          // what the last stop left running, and why; "": nothing

    bool operator==(const StopState&) const = default;
};

}  // namespace knell
