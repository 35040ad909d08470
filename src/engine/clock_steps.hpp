#pragma once

#include <chrono>
#include <cstddef>
#include <deque>

#include "base/time.hpp"

namespace knell {

/// When the clock on the wall was set, so that a time it showed before that can be read as if it
/// had never been.  For times that are on record alone: what is open in memory follows each step
/// by itself.
class ClockSteps {
  public:
    /// Older ones are forgotten: then a time from before them counts as shown after them.
    static constexpr std::size_t steps_max = 32;

    /// It was set, and shows that now; `before`: all steps until then, added up.
    void note(WallTime shown, std::chrono::milliseconds before) {
        if (steps_.size() == steps_max) steps_.pop_front();
        steps_.push_back({shown, before});
    }

    /// All steps, added up, that had been made when the clock showed that time; `all`: by now.  A
    /// time that it showed twice, because it was set back between, is taken for the later one.
    std::chrono::milliseconds made_by(WallTime shown, std::chrono::milliseconds all) const {
        auto made = all;
        for (auto step = steps_.rbegin(); step != steps_.rend() && shown < step->shown; ++step) {
            made = step->before;
        }
        return made;
    }

  private:
    struct Step {
        WallTime shown;
        std::chrono::milliseconds before;
    };
    std::deque<Step> steps_;
};

}  // namespace knell
