#include "rpc/session_params.hpp"

#include <algorithm>

#include "wire/session_json.hpp"

namespace knell::rpc {

JsonObject render_opened(const OpenedReply& reply) {
    JsonObject result{{"session_id", reply.session_id.text()},
                      {"generation", reply.generation},
                      {"status", name_in(status_names, reply.status)}};
    if (reply.lease_ttl.count() > 0) {
        result["lease_ttl_s"] = reply.lease_ttl.count();
        // Two beats may be lost before the lease is.
        result["renew_every_s"] = std::max<std::int64_t>(1, reply.lease_ttl.count() / 3);
    }
    return result;
}

JsonObject render_closed(const ClosedReply& reply) {
    JsonObject result{
        {"session_id", reply.session_id.text()},          {"generation", reply.generation},
        {"status", name_in(status_names, Status::ended)}, {"reason", name_of(reply.end.reason)},
        {"ended_at", format_rfc3339(reply.end.ended_at)}, {"already_ended", reply.already_ended}};
    if (!reply.end.leftovers.empty()) result["leftovers"] = wire::to_json(reply.end.leftovers);
    return result;
}

}  // namespace knell::rpc
