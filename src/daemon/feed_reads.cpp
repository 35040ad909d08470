#include "daemon/feed_reads.hpp"

#include <utility>

#include "core/limits.hpp"

namespace knell {

void read_for_feed(ReadThread& thread, net::EventLoop& loop, const std::string& node,
                   EventQuery query, const wire::Framing& framing, rpc::Feeds::Done done) {
    // Each feed waits for one page at most, so the queue has room until it is closed.
    static_assert(limits::feeds_max <= limits::queue_reads_max);
    auto run = [&loop, &node, query = std::move(query), &framing,
                done = std::move(done)](Reader& reader) mutable {
        auto page = rpc::read_feed_page(reader, std::move(query), framing, node);
        loop.post(
            [done = std::move(done), page = std::move(page)]() mutable { done(std::move(page)); });
    };
    static_cast<void>(thread.submit(rpc::ConnectionId::none, {std::move(run), {}}));
}

}  // namespace knell
