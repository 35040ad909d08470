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
    /// Reads the file, so that nobody acts on defaults that it overrides.  What of it is in error
    /// falls back (see usable_part) until a reload finds the whole file right.
    explicit ConfigHolder(std::string config_file);

    std::shared_ptr<const Config> current() const;
    /// What is wrong with the file as it was last read and what holds instead, a sentence first,
    /// then a line for each further error; empty: nothing.  Paths as the user knows them.
    std::vector<std::string> trouble() const;

    struct Reload {
        std::shared_ptr<const Config> config;  // in force from now on
        std::vector<FileProblem> problems;     // errors: why that is still the one before; warnings
        std::vector<std::string> changes;      // see config_changes

        bool is_taken() const { return !has_errors(problems); }
    };
    /// Reads the file anew.  One with an error in it changes nothing.
    Reload reload();

  private:
    const std::string config_file_;
    mutable Mutex mutex_;
    std::shared_ptr<const Config> current_ KNELL_GUARDED_BY(mutex_);
    std::vector<std::string> trouble_ KNELL_GUARDED_BY(mutex_);
};

}  // namespace knell
