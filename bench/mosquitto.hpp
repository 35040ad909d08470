#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lab.hpp"
#include "peer_process.hpp"

namespace knell::bench {

inline constexpr int mosquitto_port = 11883;

/// An MQTT broker without persistence, in a home of its own.
class Mosquitto {
  public:
    explicit Mosquitto(const Lab& lab);

    pid_t pid() const { return process_->pid(); }

  private:
    const std::unique_ptr<TemporaryDirectory> home_;
    std::unique_ptr<PeerProcess> process_;
};

/// A connection that was acknowledged, whose last will is told to "will/NAME" when it is lost.
/// MQTT 3.1.1; one that is silent for one and a half times `keep_alive_s` counts as lost.
Fd connect_with_will(std::string_view name, int keep_alive_s);
/// Hears what is published under that filter from now on.
void subscribe_to(const Fd& client, std::string_view filter);
/// At most once, as the follower of a feed without acknowledgements.
void publish(const Fd& client, std::string_view topic, std::string_view payload);

}  // namespace knell::bench
