#pragma once

#include <optional>
#include <string>

#include "client/claude_hook.hpp"
#include "client/connection.hpp"
#include "platform/paths.hpp"

namespace knell::cli {

/// The world of one `knell hook claude-code`: the daemon that runs, the environment, /proc.
class RealClaudeSurroundings final : public client::ClaudeSurroundings {
  public:
    /// All calls together wait no longer than `budget`: the agent waits meanwhile.
    RealClaudeSurroundings(const Paths& paths, std::chrono::milliseconds budget)
        : paths_(paths), deadline_(budget) {}

    Result<JsonObject> call(std::string_view method, const JsonObject& params) override;
    std::optional<Run> run() override;
    std::optional<pid_t> agent() override;
    JsonObject owner_for_call(pid_t pid) override { return client::owner_for_call(pid); }
    JsonObject owner_for_spool(pid_t pid) override { return client::owner_for_spool(pid); }
    Result<void> spool(const SessionId& session,
                       std::span<const client::SpoolRecord> records) override;
    WallTime now() override;

  private:
    const Paths& paths_;
    const client::Deadline deadline_;
    std::optional<client::Connection> connection_;
};

/// What `knell hook claude-code` does: reads an event from standard input, writes to standard
/// output what the agent is to be told, if anything.  Exits with 0 whatever happens: any other
/// status is a word to the agent.
int run_claude_hook(const Paths& paths);

}  // namespace knell::cli
