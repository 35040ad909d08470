#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "platform/fd.hpp"

namespace knell {

/// A command that reads messages from its standard input, a JSON object a line, and prints a
/// summary of them.
struct Provider {
    std::string name;
    /// The program first: an absolute path, or a name that is looked for in the PATH.  No shell.
    std::vector<std::string> command;
    std::chrono::milliseconds timeout{};

    bool operator==(const Provider&) const = default;
};

/// One summary to be made.  See summarize/input.hpp for how its input is written.
struct SummaryJob {
    std::string node;  // whose it is, for the next daemon: see platform/marked_run.hpp
    SessionId session_id;
    Generation generation = 0;        // for whoever asked; here it is only carried along
    std::vector<Provider> providers;  // tried in this order
    Fd input;
    std::int64_t input_bytes = 0;
    std::int64_t content_bytes = 0;  // of what the summary replaces; it must be shorter
};

struct SummaryOutcome {
    bool ok = false;
    std::string summary;
    std::string provider;  // that made it
    /// A sentence for each provider that failed: "NAME: why".  Without a name: why none was tried.
    std::vector<std::string> failures;
    /// The system was short of what it takes to start one (platform/shortage.hpp): nothing is said
    /// of the providers by that.
    bool is_shortage = false;
};

/// Called once for every job that was taken.
using SummaryDone = std::function<void(SummaryOutcome)>;

}  // namespace knell
