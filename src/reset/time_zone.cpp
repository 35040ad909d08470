#include "reset/time_zone.hpp"

#include <cstdint>
#include <exception>

#include <date/tz.h>
#include <fmt/format.h>

namespace knell {

namespace {

using std::chrono::seconds;
/// The library's own counts days in 32 bits.
using Days = std::chrono::duration<std::int64_t, std::ratio<86'400>>;

constexpr std::string_view utc = "UTC";
/// A copy of whatever the machine's zone is: no name to write down.
constexpr std::string_view machine_zone = "localtime";

/// While the clocks of a zone run evenly: the wall shows `offset` more than UTC.
struct Stretch {
    seconds begin;  // since the epoch
    seconds end;
    seconds offset;

    /// What the wall comes to show at the end, and does not show before the next stretch.
    seconds wall_end() const { return end + offset; }
};

Stretch stretch_at(const date::time_zone* zone, seconds moment) {
    // Half of all there is: sums with it have room.
    Stretch stretch{.begin = seconds::min() / 2, .end = seconds::max() / 2, .offset = seconds{0}};
    if (zone == nullptr) return stretch;
    const auto info = zone->get_info(date::sys_seconds{moment});
    stretch.offset = info.offset;
    // The library's years end at 32767, and a moment beyond is in none of its stretches.
    const auto begin = info.begin.time_since_epoch();
    const auto end = info.end.time_since_epoch();
    if (begin <= moment) stretch.begin = begin;
    if (end > moment) stretch.end = end;
    return stretch;
}

/// No clock on a wall was ever put back by more than a day.
constexpr seconds put_back_max = std::chrono::hours{26};

/// The first time of the wall, at that time of day, which no clock has come to show by `moment`:
/// where one was put back, what it shows for the second time has been.
seconds first_to_come(const date::time_zone* zone, const Stretch& now, seconds moment,
                      seconds time_of_day) {
    const auto wall = moment + now.offset;
    seconds target = std::chrono::floor<Days>(wall) + time_of_day;
    if (target <= wall) target += Days{1};
    for (auto begin = now.begin; begin > moment - put_back_max;) {
        const auto earlier = stretch_at(zone, begin - seconds{1});
        while (target < earlier.wall_end()) target += Days{1};
        begin = earlier.begin;
    }
    return target;
}

}  // namespace

Result<TimeZone> TimeZone::find(std::string_view iana_name) {
    TimeZone found;
    if (iana_name == utc) return found;
    try {
        date::get_tzdb();
        try {
            if (iana_name != machine_zone) found.zone_ = date::locate_zone(iana_name);
            // A zone's file is read when it is first asked.
            if (found.zone_ != nullptr) stretch_at(found.zone_, seconds{0});
        } catch (const std::exception&) {
            found.zone_ = nullptr;
        }
    } catch (const std::exception& error) {
        return fail(ErrorCode::not_found,
                    fmt::format("the machine's time zones cannot be read ({}); install tzdata",
                                error.what()));
    }
    if (found.zone_ != nullptr) return found;
    return fail(ErrorCode::not_found, "there is no such time zone");
}

std::vector<std::string> TimeZone::names() {
    std::vector<std::string> names;
    try {
        for (const auto& zone : date::get_tzdb().zones) {
            if (zone.name() != machine_zone) names.push_back(zone.name());
        }
    } catch (const std::exception&) {
        names.clear();
    }
    return names;
}

const std::string& TimeZone::name() const {
    static const std::string name_of_utc(utc);
    return zone_ == nullptr ? name_of_utc : zone_->name();
}

WallTime TimeZone::next(std::chrono::minutes time_of_day, WallTime after) const {
    // Zones count whole seconds, and so does what is asked for: the rest of one changes nothing.
    const auto moment = std::chrono::floor<seconds>(after.time_since_epoch());
    auto stretch = stretch_at(zone_, moment);
    const auto target = first_to_come(zone_, stretch, moment, time_of_day);
    while (target >= stretch.wall_end()) {
        stretch = stretch_at(zone_, stretch.end);
        if (target <= stretch.begin + stretch.offset) return WallTime{stretch.begin};
    }
    return WallTime{target - stretch.offset};
}

}  // namespace knell
