#include "writer/leftover_finder.hpp"

namespace knell {

std::vector<LeftoverSearch> searches_for(const FindLeftovers& what, const std::string& socket) {
    std::vector<LeftoverSearch> searches;
    for (const auto& command : what.commands) {
        LeftoverSearch search{.session_id = command.session_id,
                              .generation = command.generation,
                              .socket = socket,
                              .command = what.process,
                              .reaper = {},
                              .by_cookie_only = what.commands.size() > 1};
        if (command.reaper.pid != 0) {
            search.reaper = what.process;  // the same boot and namespace
            search.reaper->pid = command.reaper.pid;
            search.reaper->start_ticks = command.reaper.start_ticks;
        }
        searches.push_back(std::move(search));
    }
    return searches;
}

std::vector<FoundLeftovers> FinderAtStart::find(const FindLeftovers& what) {
    std::vector<FoundLeftovers> found;
    for (const auto& search : searches_for(what, socket_)) {
        found.push_back({search.session_id, find_leftovers(search, tree_, owners_)});
    }
    return found;
}

}  // namespace knell
