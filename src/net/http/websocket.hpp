#pragma once

#include <memory>

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "net/http/peer.hpp"

namespace knell::net::http {

/// One WebSocket client: a call as one JSON object in each text message, answers and events the
/// same way.  What bounds a client on the unix socket bounds it here; one that is silent is asked,
/// and closed when it does not answer.  `request` asked for the upgrade.
std::shared_ptr<Peer> make_websocket(
    Socket socket, boost::beast::http::request<boost::beast::http::string_body> request,
    rpc::Caller caller, std::shared_ptr<Common> common);

}  // namespace knell::net::http
