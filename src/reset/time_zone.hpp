#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "core/error.hpp"

namespace date {
class time_zone;
}

namespace knell {

/// What clocks on the wall show in some place: UTC, or a zone of the machine's IANA database, which
/// is read once.  A value; any thread.
///
/// Past the last change that the database lists (2037) a zone keeps the offset it has then.
class TimeZone {
  public:
    /// UTC; needs no database.
    TimeZone() = default;
    static Result<TimeZone> find(std::string_view iana_name);
    /// All that `find` finds; none without a database.
    static std::vector<std::string> names();

    const std::string& name() const;

    /// The first moment after `after` at which a clock on the wall there passes that time of day.
    /// A time that a night skips comes at the moment the clock jumps; one that a night has twice
    /// comes once, the first time.  Does not allocate.
    WallTime next(std::chrono::minutes time_of_day, WallTime after) const;

    bool operator==(const TimeZone&) const = default;

  private:
    const date::time_zone* zone_ = nullptr;  // of the database, which is never let go; null: UTC
};

}  // namespace knell
