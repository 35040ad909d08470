#include "config/config_warnings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/names.hpp"

namespace knell {

namespace {

bool is_daily(ResetMode mode) {
    return mode == ResetMode::daily || mode == ResetMode::both;
}

bool is_idle(ResetMode mode) {
    return mode == ResetMode::idle || mode == ResetMode::both;
}

class Warnings {
  public:
    Warnings(const Config& config, FileProblems& problems) : config_(config), problems_(problems) {}

    void look_at_resets() {
        const auto mode = config_.session_reset.mode;
        const auto name = name_in(reset_mode_names, mode);
        if (is_daily(mode) && written("session_reset.at") == nullptr) {
            warn(written("session_reset.mode"), "session_reset.at",
                 fmt::format("mode is {} and no hour is set; write when, as in `at: 6`, or 04:00 "
                             "holds",
                             name));
        }
        look_at_overrides();
        // An override may use what the mode of the others does not.
        if (config_.reset_policies->override_count() > 0) return;
        if (!is_idle(mode)) {
            warn_idle("session_reset.idle_minutes", name, "idle");
        }
        if (!is_daily(mode)) {
            warn_idle("session_reset.at", name, "daily");
            warn_idle("session_reset.time_zone", name, "daily");
        }
    }

    void look_at_processes() {
        const auto* own = written("processes.per_session");
        const auto& bounds = config_.processes;
        if (own == nullptr || bounds.per_session <= bounds.max) return;
        warn(own, own->path,
             fmt::format("is more than processes.max allows for all sessions; write at most {}",
                         bounds.max));
    }

    void look_at_the_summarizer() {
        const auto* tail = written("summarizer.tail_messages");
        if (tail == nullptr || config_.summarizer.fallback == SummarizerSettings::Fallback::tail) {
            return;
        }
        warn(tail, tail->path, "does nothing while fallback is keep; write `fallback: tail` too");
    }

  private:
    const Setting* written(std::string_view path) const {
        const auto found = std::ranges::find(config_.settings, path, &Setting::path);
        return found == config_.settings.end() || !found->place ? nullptr : &*found;
    }
    void warn(const Setting* at, std::string_view path, std::string_view text) {
        if (at != nullptr) problems_.warn(*at->place, std::string(path), text);
    }
    void warn_idle(std::string_view path, std::string_view mode, std::string_view wanted) {
        warn(written(path), path,
             fmt::format("does nothing while mode is {}; write `mode: {}` or `mode: both` too",
                         mode, wanted));
    }

    void look_at_overrides() {
        if (written("session_reset.at") != nullptr) return;
        constexpr std::string_view end = "].mode";
        for (const auto& mode : config_.settings) {
            if (!mode.path.starts_with("session_reset.overrides[") || !mode.path.ends_with(end)) {
                continue;
            }
            const auto& name = std::get<std::string>(mode.value);
            const auto label = mode.path.substr(0, mode.path.size() - (end.size() - 1));
            if ((name != "daily" && name != "both") || written(label + ".at") != nullptr) continue;
            warn(&mode, label + ".at",
                 fmt::format("mode is {} and no hour is set; write when, as in `at: 6`, or 04:00 "
                             "holds",
                             name));
        }
    }

    const Config& config_;
    FileProblems& problems_;
};

}  // namespace

void warn_of_contradictions(const Config& config, FileProblems& problems) {
    Warnings warnings(config, problems);
    // Of a section with an error in it nothing holds, and what is missing may be what is wrong.
    const auto is_right = [&](std::string_view section) {
        return !problems.parts_in_error().contains(section);
    };
    if (is_right("session_reset")) warnings.look_at_resets();
    if (is_right("processes")) warnings.look_at_processes();
    if (is_right("summarizer")) warnings.look_at_the_summarizer();
}

}  // namespace knell
