#include "watch/owner_stopper.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fmt/format.h>

namespace knell {

namespace {

Fate fate_after(bool was_terminated, bool was_killed) {
    if (was_killed) return Fate::killed;
    return was_terminated ? Fate::stopped : Fate::gone;
}

std::string why_refused(int error, const HeldProcess& held) {
    if (error != EPERM) return fmt::format("the system refused the signal, errno {}", error);
    const auto uid = held.uid();
    return uid ? fmt::format("it belongs to uid {}, which this daemon may not signal", *uid)
               : "it belongs to somebody whom this daemon may not signal";
}

}  // namespace

void OwnerStopper::add(ProcessIdentity process, Done done, SteadyTime now) {
    const auto there = std::ranges::find(jobs_, process, &Job::process);
    if (there != jobs_.end()) {
        there->done.push_back(std::move(done));
        return;
    }
    Job job{.process = std::move(process), .done = {}, .until = now + Stopper::term_grace};
    job.done.push_back(std::move(done));
    jobs_.push_back(std::move(job));
}

void OwnerStopper::step(SteadyTime now) {
    std::vector<std::pair<Job, Stopped>> over;
    std::erase_if(jobs_, [&](Job& job) {
        auto stopped = advance(job, now);
        if (!stopped) return false;
        over.emplace_back(std::move(job), std::move(*stopped));
        return true;
    });
    for (auto& [job, stopped] : over) {
        for (auto& done : job.done) done(stopped);
    }
}

std::optional<OwnerStopper::Stopped> OwnerStopper::advance(Job& job, SteadyTime now) const {
    if (!job.held) {
        auto held = holder_.hold(job.process);
        if (!held && held.error() == NotHeld::gone) return Stopped{Fate::gone};
        if (!held && now < job.until) return std::nullopt;  // descriptors may be free again
        if (!held) return Stopped{Fate::left, "it cannot be held, and so not be signalled"};
        job.held = std::move(*held);
    }
    if (job.held->has_ended()) {
        return Stopped{fate_after(job.phase != Phase::asked, job.phase == Phase::killed)};
    }
    if (job.phase != Phase::asked && now < job.until) return std::nullopt;
    if (job.phase == Phase::killed) return Stopped{Fate::left, "still there after SIGKILL"};
    if (!is_owner_(job.process)) {
        return Stopped{Fate::left, "it no longer keeps a session, so it was not signalled again"};
    }
    return signal(job, now);
}

std::optional<OwnerStopper::Stopped> OwnerStopper::signal(Job& job, SteadyTime now) const {
    const bool first = job.phase == Phase::asked;
    const int error = job.held->signal(first ? SIGTERM : SIGKILL);
    if (error == ESRCH) return Stopped{fate_after(!first, /*was_killed=*/false)};
    if (error != 0) return Stopped{Fate::left, why_refused(error, *job.held)};
    // One that is stopped would hear of it only when it goes on.
    if (first) (void)job.held->signal(SIGCONT);
    job.phase = first ? Phase::terminated : Phase::killed;
    job.until = now + (first ? Stopper::term_grace : Stopper::kill_grace);
    return std::nullopt;
}

}  // namespace knell
