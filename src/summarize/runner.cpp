#include "summarize/runner.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>

#include "base/check.hpp"
#include "core/limits.hpp"
#include "platform/clock.hpp"

namespace knell {

namespace {

constexpr std::string_view stops = "the daemon stops";
/// For those that were killed at the stop to be gone; one that waits for a dead disk is left.
constexpr auto gone_wait_max = std::chrono::seconds{2};
constexpr auto unfinished_max = limits::summary_jobs_max + limits::summary_queue_max;

}  // namespace

Result<void> SummaryRunner::submit(SummaryJob job, SummaryDone done) {
    CHECK(job.input && done);
    {
        const Lock lock(mutex_);
        if (stopping_) return fail(ErrorCode::internal, std::string(stops));
        if (unfinished_.size() >= unfinished_max) {
            return fail(ErrorCode::limit,
                        fmt::format("{} summaries are being made or wait to be already; try again "
                                    "later",
                                    unfinished_.size()));
        }
        if (!thread_.joinable()) {
            try {
                thread_ = std::thread([this] { loop(); });
            } catch (const std::system_error& error) {
                return fail(ErrorCode::limit, fmt::format("cannot start a thread for summaries: {}",
                                                          error.code().message()));
            }
        }
        unfinished_.insert(job.session_id);
        orders_.emplace_back(Submission{std::move(job), std::move(done)});
    }
    poller_.wake();
    return {};
}

const SessionId& SummaryRunner::session_of(const Order& order) {
    const auto* submitted = std::get_if<Submission>(&order);
    return submitted != nullptr ? submitted->job.session_id : std::get<SessionId>(order);
}

bool SummaryRunner::is_cancelled_last(const SessionId& session_id) {
    const auto last = std::find_if(orders_.rbegin(), orders_.rend(), [&](const Order& order) {
        return session_of(order) == session_id;
    });
    return last != orders_.rend() && std::holds_alternative<SessionId>(*last);
}

void SummaryRunner::cancel(const SessionId& session_id) {
    {
        const Lock lock(mutex_);
        // So there are never more orders than twice the jobs.
        if (!unfinished_.contains(session_id) || is_cancelled_last(session_id)) return;
        orders_.emplace_back(session_id);
    }
    poller_.wake();
}

void SummaryRunner::stop() {
    std::thread thread;
    {
        const Lock lock(mutex_);
        stopping_ = true;
        thread = std::move(thread_);
    }
    if (!thread.joinable()) return;
    poller_.wake();
    thread.join();
}

void SummaryRunner::loop() {
    pthread_setname_np(pthread_self(), "knell-summary");
    while (!take_orders()) {
        work_.step(read_awake_clock());
        tell_finished();
        Awaited awaited;
        work_.add_descriptors(awaited.descriptors);
        awaited.no_later_than(work_.next_deadline());
        poller_.wait(std::move(awaited), read_awake_clock());
    }
    work_.cancel_all(stops);
    tell_finished();
    wait_until_gone();
}

bool SummaryRunner::take_orders() {
    std::vector<Order> orders;
    bool stopping = false;
    {
        const Lock lock(mutex_);
        orders = std::exchange(orders_, {});
        stopping = stopping_;
    }
    for (auto& order : orders) {
        if (auto* submitted = std::get_if<Submission>(&order)) {
            work_.add(std::move(submitted->job), std::move(submitted->done));
        } else {
            work_.cancel(std::get<SessionId>(order), "cancelled");
        }
    }
    return stopping;
}

void SummaryRunner::tell_finished() {
    for (auto& [session_id, done, outcome] : work_.take_finished()) {
        {
            // Before it is told: whoever submits the next from there finds the place free.
            const Lock lock(mutex_);
            unfinished_.erase(unfinished_.find(session_id));
        }
        done(std::move(outcome));
    }
}

void SummaryRunner::wait_until_gone() {
    const auto until = read_awake_clock() + gone_wait_max;
    for (auto now = read_awake_clock(); now < until; now = read_awake_clock()) {
        work_.step(now);
        if (work_.dying() == 0) return;
        Awaited awaited;
        work_.add_descriptors(awaited.descriptors);
        awaited.no_later_than(until);
        poller_.wait(std::move(awaited), now);
    }
}

}  // namespace knell
