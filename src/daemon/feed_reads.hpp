#pragma once

#include <string>

#include "daemon/read_thread.hpp"
#include "net/event_loop.hpp"
#include "rpc/feeds.hpp"

namespace knell {

/// Reads a page of the log of `node` for a follower that is behind, on the thread of the feeds;
/// `done` is called on the loop's.  What is asked for must outlive the answer.
void read_for_feed(ReadThread& thread, net::EventLoop& loop, const std::string& node,
                   EventQuery query, const wire::Framing& framing, rpc::Feeds::Done done);

}  // namespace knell
