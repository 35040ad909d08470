#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "config/config.hpp"

namespace knell {

/// Holds the config that is in force and publishes it as snapshots that never change: who has one
/// may keep it, and sees a newer one when it asks again.
///
/// One thread reloads; any thread asks.
class ConfigHolder {
  public:
    /// Reads the file, so that nobody acts on defaults that it overrides.  Where it cannot be read
    /// the defaults hold, no event is deleted, no session is reset and HTTP is off; the first
    /// reload says why.
    explicit ConfigHolder(std::string config_file);

    std::shared_ptr<const Config> current() const;
    /// Since the start the file cannot be used: why, and what is off until it can; else "".
    std::string trouble() const;

    struct Reload {
        std::shared_ptr<const Config> config;  // in force from now on
        std::vector<FileProblem> problems;     // why that is still the one before
        std::vector<std::string> changes;      // see config_changes
    };
    /// Reads the file anew.
    Reload reload();

  private:
    const std::string config_file_;
    mutable Mutex mutex_;
    std::shared_ptr<const Config> current_ KNELL_GUARDED_BY(mutex_);
    std::string trouble_ KNELL_GUARDED_BY(mutex_);
};

}  // namespace knell
