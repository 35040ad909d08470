#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "deliver/hook/runner.hpp"
#include "platform/fd.hpp"
#include "testing/fifo.hpp"
#include "testing/temp_folder.hpp"

namespace knell::testing {

/// A directory for one hook and a runner to run it with.  Waits only for what the runner itself
/// asks to be woken for; time stands still unless a test says otherwise.
class HookTrial {
  public:
    HookTrial();
    ~HookTrial();
    HookTrial(const HookTrial&) = delete;
    HookTrial& operator=(const HookTrial&) = delete;

    HookRunner& runner() { return runner_; }
    const std::string& directory() const { return directory_; }
    std::string path(std::string_view name) const;

    /// Makes the file executable.  Gives its path.
    std::string write(std::string_view name, std::string_view text) const;
    /// A named pipe to meet a hook at.  Opened for both ways, so that nobody waits for us.
    Fd fifo(std::string_view name) const;

    HookSpec spec(std::vector<std::string> argv) const;
    /// `sh` in the hook's directory.
    HookSpec shell(std::string_view script) const;
    HookSpec python_handler(std::string_view code) const;

    /// Starts it as the next attempt.
    AttemptId start(const HookSpec& hook);
    AttemptId start(const HookSpec& hook, const RenderedEvent& rendered, SteadyTime now = {});
    /// Waits until the runner has something to do, without letting it.
    void wait();
    /// Steps until nothing runs, and nothing killed is left to be reaped.
    std::vector<Finished> finish(SteadyTime now = {});
    Outcome run(const HookSpec& hook);
    Outcome run(const HookSpec& hook, const RenderedEvent& rendered);

    static RenderedEvent rendered();

  private:
    const TempFolder temp_;
    const std::string directory_ = temp_.path();
    HookRunner runner_;
    AttemptId last_attempt_ = 0;
};

}  // namespace knell::testing
