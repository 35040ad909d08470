#include "space/gateway_board.hpp"

#include <algorithm>
#include <utility>

#include "core/limits.hpp"

namespace knell {

namespace {

std::chrono::seconds pause_after(int failures) {
    auto pause = limits::gateway_pause;
    for (int i = 0; i < failures && pause < limits::gateway_pause_max; ++i) pause *= 2;
    return std::min(pause, limits::gateway_pause_max);
}

}  // namespace

void GatewayBoard::set_gateways(const std::vector<GatewaySpec>& specs) {
    std::vector<Gateway> gateways;
    for (const auto& spec : specs) {
        const auto same = std::ranges::find(gateways_, spec, &Gateway::spec);
        if (same != gateways_.end()) {
            gateways.push_back(std::move(*same));
            same->spec = {};  // taken
            continue;
        }
        Gateway added{.spec = spec};
        added.report.name = spec.name;
        added.report.error = "it has not been asked yet";
        added.report.version = ++last_version_;
        gateways.push_back(std::move(added));
    }
    gateways_ = std::move(gateways);
}

std::vector<GatewayBoard::Request> GatewayBoard::take_due(SteadyTime now) {
    std::vector<Request> requests;
    for (auto& gateway : gateways_) {
        if (gateway.ticket != 0 || gateway.due > now) continue;
        gateway.ticket = ++last_ticket_;
        requests.push_back({gateway.ticket, gateway.spec, gateway.etag});
    }
    return requests;
}

std::optional<SteadyTime> GatewayBoard::next_due() const {
    std::optional<SteadyTime> next;
    for (const auto& gateway : gateways_) {
        if (gateway.ticket == 0) next = std::min(next.value_or(gateway.due), gateway.due);
    }
    return next;
}

GatewayBoard::Gateway* GatewayBoard::take_ticket(std::uint64_t ticket) {
    const auto found = std::ranges::find(gateways_, ticket, &Gateway::ticket);
    if (ticket == 0 || found == gateways_.end()) return nullptr;
    found->ticket = 0;
    return &*found;
}

void GatewayBoard::note_answer(Gateway& gateway, Now now) {
    gateway.failures = 0;
    gateway.due = now.steady + pause_after(0);
    gateway.report.as_of = now.wall;
    if (std::exchange(gateway.report.is_reachable, true)) return;
    gateway.report.error.clear();
    gateway.report.version = ++last_version_;
}

void GatewayBoard::heard(std::uint64_t ticket, GatewayAnswer answer, Now now) {
    auto* const gateway = take_ticket(ticket);
    if (gateway == nullptr) return;
    note_answer(*gateway, now);
    gateway->etag = std::move(answer.etag);
    gateway->report.is_truncated = answer.is_truncated;
    gateway->report.sessions =
        std::make_shared<const std::vector<JsonObject>>(std::move(answer.sessions));
    gateway->report.version = ++last_version_;
}

void GatewayBoard::unchanged(std::uint64_t ticket, Now now) {
    if (auto* const gateway = take_ticket(ticket)) note_answer(*gateway, now);
}

void GatewayBoard::failed(std::uint64_t ticket, std::string why, SteadyTime now) {
    auto* const gateway = take_ticket(ticket);
    if (gateway == nullptr) return;
    gateway->due = now + pause_after(++gateway->failures);
    auto& report = gateway->report;
    if (!report.is_reachable && report.error == why) return;
    report.is_reachable = false;
    report.error = std::move(why);
    report.version = ++last_version_;
}

std::vector<GatewayReport> GatewayBoard::reports() const {
    std::vector<GatewayReport> reports;
    for (const auto& gateway : gateways_) reports.push_back(gateway.report);
    return reports;
}

}  // namespace knell
