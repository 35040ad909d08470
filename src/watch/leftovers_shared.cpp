#include "watch/leftovers_shared.hpp"

#include <algorithm>
#include <optional>

namespace knell {

std::set<pid_t> find_shared(const std::map<pid_t, ProcStat>& leftovers, pid_t command_session,
                            const ProcessTree& tree) {
    std::map<pid_t, std::optional<Sockets>> daemonised;
    std::set<std::uint64_t> inside;  // sockets of the session's own processes
    for (const auto& [pid, stat] : leftovers) {
        if (command_session != 0 && stat.session == command_session) continue;
        daemonised.emplace(pid, tree.sockets(pid));
    }
    if (daemonised.empty()) return {};
    for (const auto& [pid, stat] : leftovers) {
        const auto known = daemonised.find(pid);
        const auto sockets = known == daemonised.end() ? tree.sockets(pid) : known->second;
        if (sockets) inside.insert(sockets->own.begin(), sockets->own.end());
    }
    const auto serves_others = [&](const std::optional<Sockets>& sockets) {
        if (!sockets || sockets->listens_on_unix) return true;
        return std::ranges::any_of(sockets->peers,
                                   [&](auto peer) { return !inside.contains(peer); });
    };
    // Who serves and who does the work need not be the same process.
    std::set<pid_t> serving_sessions;
    for (const auto& [pid, sockets] : daemonised) {
        if (serves_others(sockets)) serving_sessions.insert(leftovers.at(pid).session);
    }
    std::set<pid_t> shared;
    for (const auto& [pid, sockets] : daemonised) {
        if (serving_sessions.contains(leftovers.at(pid).session)) shared.insert(pid);
    }
    for (bool grew = !shared.empty(); grew;) {
        grew = false;
        for (const auto& [pid, stat] : leftovers) {
            if (shared.contains(stat.parent)) grew = shared.insert(pid).second || grew;
        }
    }
    return shared;
}

}  // namespace knell
