#pragma once

#include <memory>
#include <string>

#include "net/http/peer.hpp"

namespace knell::net::http {

/// One client that speaks HTTP/1.1: requests in, one after the other, answers out in their order.
///
/// Bounds: the bytes of a header and of a body, those of all bodies together; the time for a
/// header, a body, between requests, and to take an answer.  Whatever is not a request as the
/// standard has it ends the connection: what follows it could be somebody else's.
///
/// `address`: who it is, with its port.  `ip`: without.
std::shared_ptr<Peer> make_connection(Socket socket, std::string address, std::string ip,
                                      std::shared_ptr<Common> common);

}  // namespace knell::net::http
