#pragma once

#include <chrono>

#include "base/time.hpp"

namespace knell::client {

/// One end shared by many waits, so that their sum stays bounded whatever each of them meets.
class Deadline {
  public:
    /// Counts from now.
    explicit Deadline(std::chrono::milliseconds budget);

    bool passed() const;
    /// Never negative.
    std::chrono::milliseconds left() const;
    /// What is left, at most `step`, as poll(2) takes it.
    int poll_millis(std::chrono::milliseconds step = std::chrono::milliseconds::max()) const;

  private:
    SteadyTime end_;
};

}  // namespace knell::client
