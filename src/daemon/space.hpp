#pragma once

#include <string>

#include "config/config_holder.hpp"
#include "platform/clock.hpp"
#include "rpc/activity.hpp"
#include "rpc/backend.hpp"
#include "space/gateway_poller.hpp"

namespace knell {

/// What space.activity is made of: the picture of this node, and what other gateways told.  Of the
/// read thread.
class Space {
  public:
    /// `life` names this life of the daemon; `notes` of its store and `config` outlive this.
    Space(const std::string& life, const std::string& node_id, ChangeNotes& notes,
          const ConfigHolder& config)
        : gateways_(config), activity_(life, node_id, notes) {}

    rpc::SpaceView view(bool with_gateways) {
        const auto now = read_clocks();
        rpc::SpaceView view{now.wall, activity_, {}};
        if (with_gateways) view.gateways = gateways_.look(now.steady);
        return view;
    }

  private:
    GatewayPoller gateways_;
    rpc::Activity activity_;
};

}  // namespace knell
