#pragma once

#include <string_view>

#include "core/error.hpp"
#include "platform/spawn.hpp"
#include "summarize/job.hpp"

namespace knell {

/// In the environment of a provider and of all that it starts: see platform/marked_run.hpp.
inline constexpr std::string_view summary_run_variable = "KNELL_SUMMARY_RUN";

/// Where a provider prints to.
struct ProviderOutputs {
    int output;
    int errors;
};

/// Starts a provider as the leader of a session, and so of a process group, of its own, in `/`,
/// with the job's input from its beginning, the environment of a hook and no other descriptor of
/// ours.  It is killed when the calling thread ends, and it is marked, so that the next daemon
/// finds what this one left.  The error says why it cannot be, for the person who wrote the config;
/// it is `limit` where the provider is not at fault (platform/shortage.hpp).
///
/// What is executed is only ours and root's to change (platform/file_trust.hpp).
Result<Spawned> launch_provider(const Provider& provider, const SummaryJob& job,
                                const ProviderOutputs& outputs);

}  // namespace knell
