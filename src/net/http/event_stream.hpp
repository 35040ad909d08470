#pragma once

#include <memory>
#include <string_view>

#include "net/http/peer.hpp"
#include "wire/envelope.hpp"

namespace knell::net::http {

inline constexpr std::string_view event_stream_type = "text/event-stream";

/// One client that follows the log as server-sent events, until it hangs up or does not read.
/// `call` is the events.subscribe that says what it wants.
std::shared_ptr<Peer> make_event_stream(Socket socket, wire::Request call, rpc::Caller caller,
                                        std::shared_ptr<Common> common);

}  // namespace knell::net::http
