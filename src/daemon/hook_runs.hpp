#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "core/session.hpp"
#include "deliver/rendered_event.hpp"
#include "platform/paths.hpp"

namespace knell {

/// One attempt of a hook.
struct HookRun {
    Seq seq = 0;
    std::string type;
    std::string session_id;
    WallTime at;  // when it was over
    std::chrono::milliseconds took{0};
    Outcome outcome;
};

/// A line that says how it went, and below it, indented, what the hook wrote: its beginning.
std::string run_text(const HookRun& run);

/// Where the last attempts of each hook are kept.
std::string runs_folder(const Paths& paths);

/// The last attempts of each hook with what it wrote, the newest first, in a file a hook for
/// whoever wants to look: `knell hooks runs`.  Nothing depends on these files; what cannot be
/// written is left.  One thread.
class HookRuns {
  public:
    static constexpr std::size_t runs_max = 10;

    explicit HookRuns(std::string folder) : folder_(std::move(folder)) {}

    void add(const std::string& name, std::string text, SteadyTime now);
    /// Writes what is due: a busy hook is written once a second.
    void save(SteadyTime now);
    void save_all();
    std::optional<SteadyTime> next_save() const;

  private:
    struct Runs {
        std::deque<std::string> texts;
        std::optional<SteadyTime> save_at{};
    };
    void write(const std::string& name, Runs& runs) const;

    const std::string folder_;
    std::map<std::string, Runs> by_name_;
};

/// The runs that such a file holds: each begins with a line that is not indented.
std::deque<std::string> runs_in(std::string_view file);

}  // namespace knell
