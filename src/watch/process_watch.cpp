#include "watch/process_watch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <unordered_map>
#include <utility>

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.hpp"
#include "base/mutex.hpp"
#include "platform/clock.hpp"
#include "platform/fd.hpp"
#include "platform/pidfd.hpp"
#include "watch/process_check.hpp"

namespace knell {

namespace {

using namespace std::chrono_literals;

/// What is held is asked this often even when nothing happens: so far back the bounds of a death
/// reach, because only a look that found nothing proves that nothing had happened yet.
constexpr std::chrono::nanoseconds held_look_period = 250ms;
constexpr std::size_t ends_a_look_max = 256;

SteadyTime boot_clock() {
    return read_clocks().boot;
}

}  // namespace

class ProcessWatch::Loop final : public WatchList::Holder {
  public:
    Loop(const ProcessTable& table, std::size_t held_max, WatchList::Tell tell)
        : held_max_(held_max),
          epoll_(epoll_create1(EPOLL_CLOEXEC)),
          wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
          list_(table, *this, std::move(tell), boot_clock) {
        CHECK(epoll_ && wake_);
        epoll_event event{.events = EPOLLIN, .data = {.u64 = wake_number}};
        CHECK(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) == 0);
    }

    void ask(std::function<void(Loop&)> request) {
        {
            const Lock lock(requests_mutex_);
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
            wait_for_something();
            const Lock lock(mutex_);
            take_requests();
            look_at_held();
            list_.look_again();
            // Last: whatever was found before then has been told by now.
            proven_until_ = list_.proven_until().time_since_epoch().count();
            for (const auto& then : std::exchange(after_look_, {})) then();
        }
    }

    // On the watch thread, under mutex_.
    void watch(const ProcessIdentity& process, WatchList::Look&& look) {
        mutex_.is_held();
        list_.watch(process, std::move(look));
    }
    void unwatch(const ProcessIdentity& process) {
        mutex_.is_held();
        list_.unwatch(process);
    }
    void after_look(std::function<void()> then) { after_look_.push_back(std::move(then)); }
    bool hold(WatchList::Number number, const ProcessIdentity& process, Fd&& pidfd) override;
    void release(WatchList::Number number) override { held_.erase(number); }

    // Any thread.  A look asks the kernel, not the list: nobody has to wait for it.
    WatchList::Look look(const ProcessIdentity& process) const
        KNELL_THREADS(no_thread_safety_analysis) {
        return list_.look(process);
    }
    WatchList::How how(const ProcessIdentity& process) const {
        const Lock lock(mutex_);
        return list_.how(process);
    }
    WatchList::Counts counts() const {
        const Lock lock(mutex_);
        return list_.counts();
    }
    SteadyTime proven_until() const {
        return SteadyTime{std::chrono::nanoseconds{proven_until_.load()}};
    }

  private:
    static constexpr std::uint64_t wake_number = 0;
    static_assert(std::atomic<std::int64_t>::is_always_lock_free);

    void wake() {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = write(wake_.get(), &one, sizeof one);
    }

    /// Milliseconds for epoll_wait; -1: until something happens.
    int max_wait() const {
        const Lock lock(mutex_);
        std::optional<std::chrono::nanoseconds> wait;
        const auto at_most = [&](std::chrono::nanoseconds time) {
            wait = std::clamp(time, 0ns, wait.value_or(time));
        };
        if (!held_.empty()) at_most(held_look_period);
        if (const auto next = list_.next_look()) at_most(*next - boot_clock());
        if (!wait) return -1;
        return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(*wait).count());
    }

    void wait_for_something() {
        epoll_event event{};
        epoll_wait(epoll_.get(), &event, 1, max_wait());
    }

    void look_at_held() KNELL_REQUIRES(mutex_) {
        std::array<epoll_event, ends_a_look_max> events;
        for (;;) {
            const auto before = boot_clock();
            const auto ready = epoll_wait(epoll_.get(), events.data(), events.size(), 0);
            if (ready < 0) return;
            for (int i = 0; i < ready; ++i) take(events.at(static_cast<std::size_t>(i)).data.u64);
            if (static_cast<std::size_t>(ready) < events.size()) {
                return list_.looked_at_held(before);
            }
        }
    }

    void take(std::uint64_t number) KNELL_REQUIRES(mutex_) {
        if (number == wake_number) return;  // see take_requests
        const auto found = held_.find(number);
        if (found != held_.end()) {
            list_.ended(number, [&](const ProcessIdentity& process) {
                return departure_of(found->second.get(), process);
            });
        }
    }

    /// Silenced before they are taken: who asks after that wakes us once more.
    void take_requests() KNELL_REQUIRES(mutex_) {
        std::uint64_t count = 0;
        [[maybe_unused]] const auto got = read(wake_.get(), &count, sizeof count);
        std::vector<std::function<void(Loop&)>> requests;
        {
            const Lock lock(requests_mutex_);
            requests.swap(requests_);
        }
        for (const auto& request : requests) request(*this);
    }

    const std::size_t held_max_;
    const Fd epoll_;
    const Fd wake_;
    std::atomic<bool> stopping_{false};
    std::atomic<std::int64_t> proven_until_{0};

    Mutex requests_mutex_;
    std::vector<std::function<void(Loop&)>> requests_ KNELL_GUARDED_BY(requests_mutex_);

    mutable Mutex mutex_;
    WatchList list_ KNELL_GUARDED_BY(mutex_);  // changed on the watch thread only

    // Watch thread only.
    std::unordered_map<WatchList::Number, Fd> held_;
    std::vector<std::function<void()>> after_look_;
};

bool ProcessWatch::Loop::hold(WatchList::Number number, const ProcessIdentity&, Fd&& pidfd) {
    if (!pidfd || held_.size() >= held_max_) return false;
    epoll_event event{.events = EPOLLIN, .data = {.u64 = number}};
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, pidfd.get(), &event) != 0) return false;
    held_.emplace(number, std::move(pidfd));  // closing it takes it out of epoll
    return true;
}

ProcessWatch::ProcessWatch(const ProcessTable& table, std::size_t held_max, WatchList::Tell tell)
    : loop_(std::make_unique<Loop>(table, held_max, std::move(tell))),
      thread_([this] { loop_->run(); }) {}

ProcessWatch::~ProcessWatch() {
    loop_->stop();
    thread_.join();
}

void ProcessWatch::watch(const ProcessIdentity& process) {
    // Held from now on, not from when the thread gets to it: by then a quick process may be gone,
    // and only who holds it learns how it went.
    auto look = std::make_shared<WatchList::Look>(loop_->look(process));
    loop_->ask([process, look](Loop& loop) { loop.watch(process, std::move(*look)); });
}
void ProcessWatch::unwatch(const ProcessIdentity& process) {
    loop_->ask([process](Loop& loop) { loop.unwatch(process); });
}
void ProcessWatch::look_now(std::function<void()> then) {
    loop_->ask([then = std::move(then)](Loop& loop) { loop.after_look(then); });
}
WatchList::How ProcessWatch::how(const ProcessIdentity& process) const {
    return loop_->how(process);
}
WatchList::Counts ProcessWatch::counts() const {
    return loop_->counts();
}
SteadyTime ProcessWatch::proven_until() const {
    return loop_->proven_until();
}

}  // namespace knell
