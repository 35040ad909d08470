#include "config/config_holder.hpp"

#include <utility>

#include <fmt/format.h>

#include "config/config_changes.hpp"

namespace knell {

namespace {

/// Of a log that nothing goes from; far from where sums would overflow.
constexpr Retention everything{.keep_for = std::chrono::days{3'650'000},
                               .keep_count = std::int64_t{1} << 60U};

/// A file may have many; `knell config check` names all of them.
std::string why_unusable(const std::vector<FileProblem>& problems) {
    auto why = to_text(problems.front());
    if (problems.size() > 1) why += fmt::format(" (and {} more)", problems.size() - 1);
    return why;
}

/// Resets nothing, and says so to whoever asks why.
std::shared_ptr<const ResetPolicies> no_resets() {
    ResetPolicy policy;
    policy.name = "the default (config.yaml cannot be used; `knell status` says why)";
    return std::make_shared<const ResetPolicies>(std::move(policy), std::vector<ResetOverride>{});
}

}  // namespace

ConfigHolder::ConfigHolder(std::string config_file) : config_file_(std::move(config_file)) {
    auto read = read_config(config_file_);
    if (!read) {
        trouble_ = fmt::format(
            "config.yaml cannot be used: {}; until it is repaired no session is reset, no event is "
            "deleted, nothing is summarised by itself, and there are no webhooks and no HTTP",
            why_unusable(read.error()));
        read = parse_config("", config_file_, "");
        // What the person who wrote the file wanted kept is not known: nothing is deleted.
        read->events = everything;
        read->http.listen = "off";  // nor where, or whether, it was to be reached
        read->reset_policies = no_resets();
    }
    current_ = std::make_shared<const Config>(std::move(*read));
}

std::shared_ptr<const Config> ConfigHolder::current() const {
    const Lock lock(mutex_);
    return current_;
}

std::string ConfigHolder::trouble() const {
    const Lock lock(mutex_);
    return trouble_;
}

ConfigHolder::Reload ConfigHolder::reload() {
    const auto before = current();
    auto read = read_config(config_file_);
    if (!read) return {before, std::move(read.error()), {}};
    auto next = std::make_shared<const Config>(std::move(*read));
    auto changes = config_changes(before->settings, next->settings);
    const Lock lock(mutex_);
    current_ = std::move(next);
    trouble_.clear();
    return {current_, {}, std::move(changes)};
}

}  // namespace knell
