#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "load_client.hpp"

namespace knell::bench {

inline constexpr std::size_t client_count = 64;

/// session.create with a source and a lease, `calls` times.
Load plain_creates(std::size_t calls);
/// session.create with the fields people's sessions have.
Load lifelike_creates(std::size_t calls);

/// session.create with a lease of `ttl_s`, many at a time.
Load lease_creates(std::size_t calls, int ttl_s);

inline constexpr std::size_t beats_a_call = 100;
/// session.heartbeat for `beats_a_call` of `ids` a call, in turn.  `ids` must outlive it.
Load beats(const std::vector<std::string>& ids, std::size_t calls);

/// Creates sessions over `client` and gives their ids.
std::vector<std::string> create_sessions(LoadClient& client, Load load);

}  // namespace knell::bench
