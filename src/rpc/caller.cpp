#include "rpc/caller.hpp"

#include <fmt/format.h>

namespace knell::rpc {

namespace {

struct Describe {
    std::string operator()(const UnixPeer& peer) const {
        if (peer.pid == 0) {
            return fmt::format("a process that is not visible from here (uid {})", peer.uid);
        }
        return fmt::format("process {} (uid {})", peer.pid, peer.uid);
    }
    std::string operator()(const HttpClient& client) const {
        return fmt::format("HTTP client {} ({} token)", client.address,
                           client.access == Access::read_only ? "read-only" : "full");
    }
    std::string operator()(const Spooled&) const {
        return "knell run, spooled while no daemon could be reached";
    }
};

}  // namespace

std::optional<ProcessIdentity> Caller::process() const {
    const auto* peer = std::get_if<UnixPeer>(&who);
    return peer != nullptr ? peer->process : std::nullopt;
}

pid_t Caller::pid() const {
    const auto* peer = std::get_if<UnixPeer>(&who);
    return peer != nullptr ? peer->pid : 0;
}

std::uint64_t Caller::pid_namespace() const {
    const auto* peer = std::get_if<UnixPeer>(&who);
    return peer != nullptr ? peer->pid_namespace : 0;
}

std::string Caller::describe() const {
    return std::visit(Describe{}, who);
}

Access Caller::access() const {
    const auto* client = std::get_if<HttpClient>(&who);
    return client != nullptr ? client->access : Access::processes;
}

}  // namespace knell::rpc
