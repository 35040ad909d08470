#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "config/gateway_spec.hpp"
#include "space/gateway_answer.hpp"
#include "wire/gateway_report.hpp"

namespace knell {

/// Whom to ask when, and what is known of each gateway.  Pure.
///
/// A gateway is due, then under way (`take_due`), then answered (`heard`, `unchanged`) or not
/// (`failed`), and due again after a pause that grows with each failure in a row.
class GatewayBoard {
  public:
    /// One that is the same as before keeps what is known of it.
    void set_gateways(const std::vector<GatewaySpec>& specs);

    struct Request {
        std::uint64_t ticket = 0;
        GatewaySpec spec;
        std::string etag;  // of what we have; "": nothing
    };
    std::vector<Request> take_due(SteadyTime now);
    /// Nothing: none is due before one is answered.
    std::optional<SteadyTime> next_due() const;

    /// A ticket of a gateway that was taken away or changed meanwhile is passed over.
    void heard(std::uint64_t ticket, GatewayAnswer answer, Now now);
    void unchanged(std::uint64_t ticket, Now now);
    void failed(std::uint64_t ticket, std::string why, SteadyTime now);

    std::vector<GatewayReport> reports() const;

  private:
    struct Gateway {
        GatewaySpec spec;
        GatewayReport report;
        std::string etag;
        SteadyTime due{};
        std::uint64_t ticket = 0;  // of the request that is under way; 0: none
        int failures = 0;          // in a row
    };

    Gateway* take_ticket(std::uint64_t ticket);
    void note_answer(Gateway& gateway, Now now);

    std::vector<Gateway> gateways_;  // in the order of the config
    std::uint64_t last_ticket_ = 0;
    std::uint64_t last_version_ = 0;
};

}  // namespace knell
