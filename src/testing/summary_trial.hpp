#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "platform/fd.hpp"
#include "summarize/work.hpp"
#include "testing/temp_folder.hpp"

namespace knell::testing {

/// Jobs and providers, and the work to try them with.  Waits only for what the work itself asks to
/// be woken for; time stands still unless a test says otherwise.
class SummaryTrial {
  public:
    SummaryTrial() = default;
    SummaryTrial(const SummaryTrial&) = delete;
    SummaryTrial& operator=(const SummaryTrial&) = delete;
    /// Nothing that was started is left.
    ~SummaryTrial();

    static constexpr std::string_view two_messages =
        "{\"role\":\"user\",\"content\":\"why?\"}\n{\"role\":\"tool\",\"content\":\"so\"}\n";
    static constexpr std::chrono::milliseconds timeout = std::chrono::minutes{1};

    SummaryWork& work() { return work_; }
    std::string path(std::string_view name) const;
    /// Makes the file executable.  Gives its path.
    std::string write(std::string_view name, std::string_view text) const;
    /// A named pipe that providers write to: `is_let_go` says when none of them is left.
    Fd reader_of_fifo(std::string_view name) const;

    static Provider provider(std::vector<std::string> command, std::string_view name = "trial");
    static Provider shell(std::string_view script, std::string_view name = "trial");
    /// To be made of `two_messages`, with contents of 1000 bytes.
    SummaryJob job(std::vector<Provider> providers, std::string session_id = "s1") const;

    /// Its outcome is the next of `outcomes`.
    void start(SummaryJob job, SteadyTime now = {});
    /// Waits until there is something to do, without doing it.
    void wait();
    /// Steps until nothing runs and nothing is left to be reaped.
    void finish(SteadyTime now = {});
    SummaryOutcome run(std::vector<Provider> providers);
    SummaryOutcome run(const Provider& provider);

    /// In the order in which they came.
    std::vector<SummaryOutcome>& outcomes() { return outcomes_; }

  private:
    void take();

    const TempFolder temp_;
    SummaryWork work_;
    std::vector<SummaryOutcome> outcomes_;
};

}  // namespace knell::testing
