#include "watch/process_watch.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.hpp"
#include "platform/clock.hpp"
#include "platform/fd.hpp"
#include "platform/pidfd.hpp"
#include "platform/proc_stat.hpp"
#include "watch/process_check.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

/// Between asking a leftover to end and killing it.
constexpr auto stop_grace = 5s;
/// Owners without a pidfd (descriptors ran out) are looked at this often.
constexpr auto look_period = 1s;

using Key = std::tuple<std::int32_t, std::uint64_t, std::string>;
Key key_of(const ProcessIdentity& process) {
    return {process.pid, process.start_ticks, process.boot_id};
}

}  // namespace

class ProcessWatch::Loop {
  public:
    Loop(const ProcessTable& table, OnGone gone, OnUnknown unknown)
        : table_(table),
          gone_(std::move(gone)),
          unknown_(std::move(unknown)),
          epoll_(epoll_create1(EPOLL_CLOEXEC)),
          wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        CHECK(epoll_ && wake_);
        epoll_event event{.events = EPOLLIN, .data = {.u64 = wake_number}};
        CHECK(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) == 0);
    }

    void ask(std::function<void(Loop&)> request) {
        {
            const std::lock_guard lock(mutex_);
            requests_.push_back(std::move(request));
        }
        wake();
    }

    void stop() {
        stopping_ = true;
        wake();
    }

    void run() {
        pthread_setname_np(pthread_self(), "knell-watch");
        while (!stopping_) {
            wait();
            take_requests();
            look_at_unheld();
            kill_overdue();
        }
    }

    void watch(const ProcessIdentity& process, Finding finding);
    void unwatch(const ProcessIdentity& process);
    void stop_leftover(const Leftover& leftover);
    std::size_t watched() const { return count_; }

  private:
    static constexpr std::uint64_t wake_number = 0;

    struct Watched {
        ProcessIdentity process;
        Fd pidfd;
        std::uint64_t number = 0;
    };
    struct Stopping {
        Leftover leftover;
        Fd pidfd;
        SteadyTime kill_at;
    };

    void wake() {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = write(wake_.get(), &one, sizeof one);
    }

    int patience() const {
        if (!stopping_leftovers_.empty()) return 100;
        if (!unheld_.empty()) {
            return static_cast<int>(std::chrono::milliseconds(look_period).count());
        }
        return -1;
    }

    void wait() {
        std::array<epoll_event, 256> events;
        const int ready = epoll_wait(epoll_.get(), events.data(), events.size(), patience());
        for (int i = 0; i < ready; ++i) {
            const auto number = events.at(static_cast<std::size_t>(i)).data.u64;
            if (number == wake_number) {
                std::uint64_t count = 0;
                [[maybe_unused]] const auto got = read(wake_.get(), &count, sizeof count);
            } else if (const auto found = by_number_.find(number); found != by_number_.end()) {
                const auto key = found->second;
                auto& watched = watched_.at(key);
                const auto departure = departure_of(watched.pidfd.get(), watched.process);
                const auto process = watched.process;
                forget(key);
                gone_(process, departure);
            }
        }
    }

    void take_requests() {
        std::vector<std::function<void(Loop&)>> requests;
        {
            const std::lock_guard lock(mutex_);
            requests.swap(requests_);
        }
        for (const auto& request : requests) request(*this);
    }

    void forget(const Key& key) {
        const auto found = watched_.find(key);
        if (found == watched_.end()) return;
        by_number_.erase(found->second.number);
        unheld_.erase(key);
        watched_.erase(found);  // closing the pidfd takes it out of epoll
        count_ = watched_.size();
    }

    void look_at_unheld() {
        if (unheld_.empty()) return;
        const auto now = read_clocks().steady;
        if (now - looked_at_ < look_period) return;
        looked_at_ = now;
        std::vector<ProcessIdentity> due;
        for (const auto& [key, process] : unheld_) due.push_back(process);
        for (const auto& process : due) {
            forget(key_of(process));
            watch(process, look_for(process, table_));
        }
    }

    void kill_overdue() {
        if (stopping_leftovers_.empty()) return;
        const auto now = read_clocks().steady;
        std::erase_if(stopping_leftovers_, [&](const Stopping& one) {
            // Fails with ESRCH once it has ended and been waited for: then it is done.
            if (pidfd_send_signal(one.pidfd.get(), 0, nullptr, 0) != 0) return true;
            if (now < one.kill_at) return false;
            pidfd_send_signal(one.pidfd.get(), SIGKILL, nullptr, 0);
            return true;
        });
    }

    const ProcessTable& table_;
    const OnGone gone_;
    const OnUnknown unknown_;
    const Fd epoll_;
    const Fd wake_;
    std::atomic<bool> stopping_{false};
    std::atomic<std::size_t> count_{0};

    std::mutex mutex_;  // guards requests_
    std::vector<std::function<void(Loop&)>> requests_;

    // Watch thread only.
    std::map<Key, Watched> watched_;
    std::map<std::uint64_t, Key> by_number_;
    std::map<Key, ProcessIdentity> unheld_;
    std::vector<Stopping> stopping_leftovers_;
    std::uint64_t next_number_ = wake_number + 1;
    SteadyTime looked_at_{};
};

void ProcessWatch::Loop::watch(const ProcessIdentity& process, Finding finding) {
    const auto key = key_of(process);
    if (watched_.contains(key)) return;
    if (auto* gone = std::get_if<Gone>(&finding)) return gone_(process, gone->departure);
    if (auto* unclear = std::get_if<CannotTell>(&finding)) return unknown_(process, unclear->why);
    auto& there = std::get<StillThere>(finding);
    Watched watched{process, std::move(there.pidfd), next_number_++};
    if (watched.pidfd) {
        epoll_event event{.events = EPOLLIN, .data = {.u64 = watched.number}};
        if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, watched.pidfd.get(), &event) != 0) {
            watched.pidfd.reset();
        }
    }
    if (watched.pidfd) {
        by_number_.emplace(watched.number, key);
    } else {
        unheld_.emplace(key, process);
    }
    watched_.emplace(key, std::move(watched));
    count_ = watched_.size();
}

void ProcessWatch::Loop::unwatch(const ProcessIdentity& process) {
    forget(key_of(process));
}

void ProcessWatch::Loop::stop_leftover(const Leftover& leftover) {
    Fd pidfd{pidfd_open(leftover.pid, 0)};
    if (!pidfd) return;
    const auto found = read_proc_stat(leftover.pid);
    if (!found || found->start_ticks != leftover.start_ticks) return;  // a stranger by now
    pidfd_send_signal(pidfd.get(), SIGTERM, nullptr, 0);
    stopping_leftovers_.push_back({leftover, std::move(pidfd), read_clocks().steady + stop_grace});
}

ProcessWatch::ProcessWatch(const ProcessTable& table, OnGone gone, OnUnknown unknown)
    : table_(table),
      loop_(std::make_unique<Loop>(table, std::move(gone), std::move(unknown))),
      thread_([this] { loop_->run(); }) {}

ProcessWatch::~ProcessWatch() {
    loop_->stop();
    thread_.join();
}

void ProcessWatch::watch(const ProcessIdentity& process) {
    // Held from now on, not from when the thread gets to it: by then a quick process may be gone,
    // and only who holds it learns how it went.
    auto finding = std::make_shared<Finding>(look_for(process, table_));
    loop_->ask([process, finding](Loop& loop) { loop.watch(process, std::move(*finding)); });
}
void ProcessWatch::unwatch(const ProcessIdentity& process) {
    loop_->ask([process](Loop& loop) { loop.unwatch(process); });
}
void ProcessWatch::stop_leftovers(std::vector<Leftover> leftovers) {
    loop_->ask([leftovers = std::move(leftovers)](Loop& loop) {
        for (const auto& leftover : leftovers) loop.stop_leftover(leftover);
    });
}
std::size_t ProcessWatch::watched() const {
    return loop_->watched();
}

}  // namespace knell
