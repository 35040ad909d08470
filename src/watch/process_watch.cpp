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
        }
    }

    void watch(const ProcessIdentity& process, Finding finding);
    void unwatch(const ProcessIdentity& process);
    std::size_t watched() const { return count_; }

  private:
    static constexpr std::uint64_t wake_number = 0;

    struct Watched {
        ProcessIdentity process;
        Fd pidfd;
        std::uint64_t number = 0;
    };

    void wake() {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = write(wake_.get(), &one, sizeof one);
    }

    int patience() const {
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
std::size_t ProcessWatch::watched() const {
    return loop_->watched();
}

}  // namespace knell
