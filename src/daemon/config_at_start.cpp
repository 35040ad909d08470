#include "daemon/config_at_start.hpp"

#include "platform/log.hpp"
#include "platform/path_names.hpp"

namespace knell {

bool is_config_right(const Paths& paths) {
    const auto config = read_config(paths.config_file);
    if (config) return true;
    const auto names = PathNames::from_environment();
    for (const auto& problem : config.error()) log_error("{}", names.in(to_text(problem)));
    log_error(
        "knell does not start: config.yaml has {} error{}, and --strict wants none; correct what "
        "is named above, or start without --strict",
        config.error().size(), config.error().size() == 1 ? "" : "s");
    return false;
}

void tell_of_config(const ConfigHolder& config, Writer& writer) {
    const auto trouble = config.trouble();
    if (trouble.empty()) return;
    log_error("{}", trouble.front());
    writer.observe(Announce{EventType::notice, trouble.front()});
}

}  // namespace knell
