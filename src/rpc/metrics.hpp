#pragma once

#include <string>

#include "rpc/reports.hpp"

namespace knell::rpc {

/// The daemon's figures as Prometheus reads them.  Pure.  docs/metrics.md explains each.
///
/// Every name begins with knell_, also where Prometheus has a usual one (process_open_fds): read
/// through node_exporter's textfile collector that would clash with node_exporter's own.
std::string metrics(const NodeStatus& node, const HooksReport& hooks);

}  // namespace knell::rpc
