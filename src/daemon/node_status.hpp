#pragma once

#include <string>
#include <vector>

#include "base/time.hpp"
#include "daemon/process_counts.hpp"
#include "platform/paths.hpp"
#include "rpc/reports.hpp"
#include "store/store.hpp"
#include "watch/watch_list.hpp"
#include "writer/writer.hpp"

namespace knell {

/// What `node.status` is made of, beside what the reader tells.
struct NodeView {
    const Paths& paths;
    const std::string& host;
    const std::string& boot_id;
    const Store& store;
    const Writer& writer;
    const std::vector<std::string>& process_limits;  // of the daemon's own process
    Now started;
    WatchList::Counts watched;
    WatchList::Counts watched_processes;
    std::size_t processes_max = 0;
    const ProcessCounts& process_counts;
    std::string http;         // where it listens; "": it does not
    std::string http_listen;  // what --http said; "": nothing
    std::size_t connections = 0;
    std::size_t connections_max = 0;
    std::size_t reads_queued = 0;
    std::string file_watch_trouble;           // "": none
    std::string hook_shortage;                // the same
    std::string http_trouble;                 // the same
    std::vector<std::string> config_trouble;  // the same
    std::size_t attachments = 0;
};

/// On the read thread.
Result<rpc::NodeStatus> describe_node(const NodeView& node, Reader& reader);

}  // namespace knell
