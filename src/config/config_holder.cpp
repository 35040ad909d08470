#include "config/config_holder.hpp"

#include <utility>

#include "config/config_changes.hpp"

namespace knell {

namespace {

/// Of a log that nothing goes from; far from where sums would overflow.
constexpr Retention everything{.keep_for = std::chrono::days{3'650'000},
                               .keep_count = std::int64_t{1} << 60U};

}  // namespace

ConfigHolder::ConfigHolder(std::string config_file) : config_file_(std::move(config_file)) {
    auto read = read_config(config_file_);
    if (!read) {
        read = parse_config("", config_file_, "");
        // What the person who wrote the file wanted kept is not known: nothing is deleted.
        read->events = everything;
        read->http.listen = "off";  // nor where, or whether, it was to be reached
    }
    current_ = std::make_shared<const Config>(std::move(*read));
}

std::shared_ptr<const Config> ConfigHolder::current() const {
    const Lock lock(mutex_);
    return current_;
}

ConfigHolder::Reload ConfigHolder::reload() {
    const auto before = current();
    auto read = read_config(config_file_);
    if (!read) return {before, std::move(read.error()), {}};
    auto next = std::make_shared<const Config>(std::move(*read));
    auto changes = config_changes(before->settings, next->settings);
    const Lock lock(mutex_);
    current_ = std::move(next);
    return {current_, {}, std::move(changes)};
}

}  // namespace knell
