#include "daemon/spool_load.hpp"

#include <cerrno>
#include <system_error>

#include <unistd.h>

#include "daemon/spool_file.hpp"
#include "daemon/spool_text.hpp"
#include "platform/log.hpp"

namespace knell {

std::optional<LoadedSpool> load_spool(const std::string& path, rpc::Surroundings& here) {
    auto file = open_spool_file(path);
    if (!file) return LoadedSpool{{}, {}, file.error().message};
    if (!*file) return std::nullopt;
    auto commands = parse_spool((*file)->text, here);
    if (!commands) return LoadedSpool{std::move((*file)->lock), {}, commands.error().message};
    // Deleting it as delivered would hide that a run left a record nobody has.
    if (commands->empty() && !(*file)->text.empty()) {
        return LoadedSpool{std::move((*file)->lock), {}, "it holds no whole line"};
    }
    return LoadedSpool{std::move((*file)->lock), std::move(*commands), {}};
}

void set_aside_and_say(const std::string& path, std::string_view why) {
    const auto bad = set_aside(path);
    log_error("cannot take in {}: {}; {}", path, why,
              bad ? "kept as " + *bad : bad.error().message);
}

void delete_delivered(const std::string& path, const SpoolReplay& replay) {
    if (unlink(path.c_str()) != 0) {
        log_warn("cannot delete delivered {}: {}", path, std::generic_category().message(errno));
    } else if (replay.is_empty()) {
        log_info("deleted {}: it is empty", path);
    } else {
        log_info("took in {}: written while no daemon could be reached", path);
    }
}

}  // namespace knell
