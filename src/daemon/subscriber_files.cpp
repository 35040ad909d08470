#include "daemon/subscriber_files.hpp"

#include <filesystem>

#include "platform/log.hpp"

namespace knell {

namespace {

/// Where the kernel does not tell of changed files.
constexpr std::chrono::seconds look_every{3};

}  // namespace

SubscriberFiles::SubscriberFiles(const Paths& paths, FolderWatch::Ask ask)
    : config_file_(paths.config_file), hooks_dir_(paths.hooks_dir), folders_(ask) {}

void SubscriberFiles::watch() {
    const std::filesystem::path config(config_file_);
    const std::filesystem::path hooks(hooks_dir_);
    // They are neighbours: see Paths.
    folders_.watch(config.parent_path(), {config.filename(), hooks.filename()});
    folders_.watch(hooks);
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(hooks, absent)) {
        if (entry.is_directory(absent)) folders_.watch(entry.path());
    }
    tell_of_trouble();
}

bool SubscriberFiles::take_change(SteadyTime now, bool is_asked) {
    bool changed = folders_.take_change();
    if (!folders_.trouble().empty() && (is_asked || now >= look_at_)) {
        changed = folders_.look() || changed;
        look_at_ = now + look_every;
        tell_of_trouble();
    }
    return changed;
}

std::optional<SteadyTime> SubscriberFiles::next_look() const {
    if (folders_.trouble().empty()) return std::nullopt;
    return look_at_;
}

void SubscriberFiles::tell_of_trouble() {
    const auto& trouble = folders_.trouble();
    {
        const Lock lock(trouble_mutex_);
        if (trouble == trouble_) return;
        trouble_ = trouble;
    }
    if (trouble.empty()) {
        log_info("changes of config.yaml and hooks are noticed at once again");
    } else {
        log_warn("changes of config.yaml and hooks are looked for every {} s: {}",
                 look_every.count(), trouble);
    }
}

std::string SubscriberFiles::trouble() const {
    const Lock lock(trouble_mutex_);
    return trouble_;
}

}  // namespace knell
