#include "rpc/method_table.hpp"

#include <vector>

#include "rpc/methods/archive_methods.hpp"
#include "rpc/methods/session_stop.hpp"

namespace knell::rpc {

namespace {

/// In the order in which they are listed to people.
std::vector<Method> gather() {
    std::vector<Method> all;
    for (const auto family : {session_open_methods(),   session_route_methods(),
                              session_write_methods(),  session_stop_methods(),
                              session_reset_methods(),  session_branch_methods(),
                              session_why_methods(),    session_read_methods(),
                              session_find_methods(),   session_search_methods(),
                              session_attach_methods(), session_label_methods(),
                              turn_methods(),           tool_methods(),
                              process_methods(),        process_read_methods(),
                              events_methods(),         space_methods(),
                              hooks_methods(),          hooks_letters_methods(),
                              config_methods(),         node_status_methods(),
                              node_stats_methods(),     node_metrics_methods(),
                              node_methods(),           rpc_methods()}) {
        all.insert(all.end(), family.begin(), family.end());
    }
    return all;
}

}  // namespace

std::span<const Method> methods() {
    static const auto all = gather();
    return all;
}

}  // namespace knell::rpc
