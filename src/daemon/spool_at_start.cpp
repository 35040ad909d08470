#include "daemon/spool_at_start.hpp"

#include <filesystem>

#include "daemon/spool_file.hpp"
#include "daemon/spool_load.hpp"
#include "platform/log.hpp"
#include "writer/spool_replay.hpp"

namespace knell {

namespace {

void replay(const std::string& path, LoadedSpool& file, const SpoolAtStart::Say& say) {
    if (!file.problem.empty()) return set_aside_and_say(path, file.problem);
    SpoolReplay replay(std::move(file.commands));
    for (;;) {
        auto next = replay.next();
        if (auto* command = std::get_if<Command>(&next)) {
            replay.take(say(std::move(*command)));
        } else if (const auto* later = std::get_if<SpoolReplay::Later>(&next)) {
            return log_warn("{} stays for now: {}", path, later->why);
        } else if (const auto* never = std::get_if<SpoolReplay::Never>(&next)) {
            return set_aside_and_say(path, never->why);
        } else {
            return delete_delivered(path, replay);
        }
    }
}

}  // namespace

void OpenSessionsSpool::take_in(const IsOpen& is_open, const Say& say) {
    for (const auto& path : find_spool_files(spool_dir_)) {
        if (!is_open(SessionId(std::filesystem::path(path).stem().string()))) continue;
        if (auto file = load_spool(path, here_)) replay(path, *file, say);
    }
}

}  // namespace knell
