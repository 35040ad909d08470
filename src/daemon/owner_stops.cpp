#include "daemon/owner_stops.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "platform/log.hpp"

namespace knell {

std::string after(std::string detail, std::string_view what) {
    if (detail.empty()) return fmt::format("after {}", what);
    // Something else that asked it to end, which its `knell run` was sent.
    if (detail.contains(" after ")) return fmt::format("{}, {}", detail, what);
    return fmt::format("{} after {}", detail, what);
}

void OwnerStops::stop(rpc::StopOwner request, rpc::Done<rpc::OwnerStop> done) {
    here_.survey([this, request = std::move(request),
                  done = std::move(done)](Result<Reply> surveyed) mutable {
        if (!surveyed) return done(std::unexpected(std::move(surveyed.error())));
        const auto& owners = std::get<SurveyReply>(*surveyed).owners;
        const auto owner = std::ranges::find(owners, request.process, &SurveyReply::Owner::process);
        const auto sessions = owner == owners.end() ? 0 : owner->sessions;
        if (sessions != 1 || request.only_asks) {
            return done(rpc::OwnerStop{.sessions = sessions});
        }
        signal(std::move(request), std::move(done));
    });
}

void OwnerStops::signal(rpc::StopOwner request, rpc::Done<rpc::OwnerStop> done) {
    log_info("stopping process {} of session {} ({}), asked for by {}", request.process.pid,
             request.session_id.text(), request.what, request.said_by);
    forget(request.process);  // who asks again is who is told of
    {
        const Lock lock(mutex_);
        stops_.push_back(request);
    }
    auto process = request.process;
    leftovers_.stop_owner(
        std::move(process), [this, request = std::move(request),
                             done = std::move(done)](OwnerStopper::Stopped stopped) mutable {
            if (stopped.fate == Fate::left) {
                log_info("process {} of session {} was not stopped: {}", request.process.pid,
                         request.session_id.text(), stopped.why_left);
                // Whatever it ends of later, it is not this.
                forget(request.process);
            }
            here_.post([done = std::move(done), stopped = std::move(stopped)]() mutable {
                done(rpc::OwnerStop{
                    .sessions = 1, .fate = stopped.fate, .why_left = std::move(stopped.why_left)});
            });
        });
}

void OwnerStops::tell(const ProcessIdentity& process, Departure& departure) const {
    const Lock lock(mutex_);
    const auto stop = std::ranges::find(stops_, process, &rpc::StopOwner::process);
    if (stop == stops_.end()) return;
    departure.evidence +=
        fmt::format("; it was sent SIGTERM for {}, by {}", stop->what, stop->said_by);
}

void OwnerStops::tell(Close& close) const {
    // Only who saw it end says how.
    if (!close.is_over) return;
    const Lock lock(mutex_);
    const auto stop = std::ranges::find(stops_, close.session_id, &rpc::StopOwner::session_id);
    if (stop != stops_.end()) close.detail = after(std::move(close.detail), stop->what);
}

void OwnerStops::forget(const ProcessIdentity& process) {
    const Lock lock(mutex_);
    std::erase_if(stops_, [&](const rpc::StopOwner& stop) { return stop.process == process; });
}

}  // namespace knell
