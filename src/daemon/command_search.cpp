#include "daemon/command_search.hpp"

#include "watch/process_check.hpp"

namespace knell {

void CommandSearch::run(Reader& reader, const ProcessTable& processes, LeftoverThread& leftovers,
                        std::function<void(rpc::CommandEnd)> done) const {
    // Who the command is, the record says and not the caller.
    const auto row = reader.find(session);
    const bool is_over =
        row && *row && std::holds_alternative<Gone>(look_for((*row)->owner.process, processes));
    const bool by_parent = is_over && is_parents_word((*row)->owner.process, caller, processes);
    const auto answer = [done = std::move(done), is_over,
                         by_parent](std::vector<FoundLeftovers> found) {
        rpc::CommandEnd end{.leftovers = {},
                            .is_over = is_over,
                            .by_parent = by_parent,
                            .was_searched = !found.empty()};
        if (!found.empty()) end.leftovers = std::move(found.front().leftovers);
        done(std::move(end));
    };
    const bool is_command = row && *row && !(*row)->end &&
                            (*row)->owner.kind == OwnerKind::process &&
                            (*row)->leftovers != LeftoversPolicy::none;
    if (!is_command) return answer({});
    const LeftoverSearch search{.session_id = session,
                                .generation = (*row)->generation,
                                .socket = socket,
                                .command = (*row)->owner.process,
                                .reaper = reaper,
                                .by_cookie_only = false};
    if (!leftovers.search({search}, answer)) answer({});
}

}  // namespace knell
