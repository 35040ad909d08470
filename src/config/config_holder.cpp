#include "config/config_holder.hpp"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/config_changes.hpp"
#include "platform/path_names.hpp"

namespace knell {

namespace {

/// Told in the status, one line each; `knell config check` names all of them.
constexpr std::size_t told_max = 10;

/// "no session is reset, there are no webhooks"
std::string effects_of(const Config& config) {
    std::vector<std::string_view> effects;
    for (const auto& fallback : config.fallbacks) effects.push_back(fallback.effect);
    return fmt::format("{}", fmt::join(effects, ", "));
}

/// `in_force` is the config that holds meanwhile.
std::vector<std::string> describe_trouble(const std::vector<FileProblem>& problems,
                                          const Config& in_force) {
    std::vector<std::string> errors;
    for (const auto& problem : problems) {
        if (problem.level == ProblemLevel::error) errors.push_back(to_text(problem));
    }
    if (errors.empty()) return {};
    const auto more = errors.size() - 1;
    const auto meanwhile = in_force.fallbacks.empty()
                               ? "what was read before holds"
                               : "until it is repaired " + effects_of(in_force);
    errors.front() = fmt::format("config.yaml cannot be used: {}{}; {}", errors.front(),
                                 more == 0 ? "" : fmt::format(" (and {} more)", more), meanwhile);
    if (errors.size() > told_max) {
        errors.resize(told_max);
        errors.push_back(fmt::format("config.yaml: {} more errors; `knell config check` names them",
                                     more + 1 - told_max));
    }
    const auto names = PathNames::from_environment();
    for (auto& line : errors) line = names.in(line);
    return errors;
}

}  // namespace

ConfigHolder::ConfigHolder(std::string config_file) : config_file_(std::move(config_file)) {
    auto read = read_usable_config(config_file_);
    trouble_ = describe_trouble(read.problems, read.config);
    current_ = std::make_shared<const Config>(std::move(read.config));
}

std::shared_ptr<const Config> ConfigHolder::current() const {
    const Lock lock(mutex_);
    return current_;
}

std::vector<std::string> ConfigHolder::trouble() const {
    const Lock lock(mutex_);
    return trouble_;
}

ConfigHolder::Reload ConfigHolder::reload() {
    const auto before = current();
    auto read = read_usable_config(config_file_);
    auto trouble = describe_trouble(read.problems, *before);
    Reload done{.config = before, .problems = std::move(read.problems), .changes = {}};
    if (done.is_taken()) {
        auto next = std::make_shared<const Config>(std::move(read.config));
        done.changes = config_changes(before->settings, next->settings);
        done.config = std::move(next);
    }
    const Lock lock(mutex_);
    current_ = done.config;
    trouble_ = std::move(trouble);
    return done;
}

}  // namespace knell
