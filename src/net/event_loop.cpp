#include "net/event_loop.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <list>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace knell::net {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

/// How long answers may take to leave after `stop`.
constexpr std::chrono::seconds drain_timeout{2};
constexpr std::chrono::milliseconds drain_look{2};

asio::awaitable<void> tick(asio::steady_timer& timer, std::chrono::milliseconds period,
                           std::function<void()> work) {
    for (;;) {
        timer.expires_after(period);
        error_code error;
        auto token = asio::redirect_error(asio::use_awaitable, error);
        co_await timer.async_wait(token);
        if (error) co_return;
        work();
    }
}

}  // namespace

class EventLoop::Impl {
  public:
    void run() {
        signals_.async_wait([this](error_code error, int) {
            if (!error) stop();
        });
        io_.run();
    }

    void stop() {
        if (stopping_.exchange(true)) return;
        asio::post(io_, [this] {
            error_code ignored;
            signals_.cancel(ignored);
            hangups_.cancel(ignored);
            for (auto* service : services_) service->close_door();
            for (auto& timer : timers_) timer.cancel();
            drain_timer_.expires_after(drain_timeout);
            drain_timer_.async_wait([this](error_code) { io_.stop(); });
            wait_until_answered();
        });
    }
    bool is_stopping() const { return stopping_; }

    void post(std::move_only_function<void()> work) {
        // Asio wants copyable handlers here only in name: it moves them.
        asio::post(io_, std::move(work));
    }

    void every(std::chrono::milliseconds period, std::function<void()> work) {
        timers_.emplace_back(io_);
        asio::co_spawn(io_, tick(timers_.back(), period, std::move(work)), asio::detached);
    }

    void after(std::chrono::milliseconds delay, std::function<void()> work) {
        asio::post(io_, [this, delay, work = std::move(work)]() mutable {
            auto timer = std::make_shared<asio::steady_timer>(io_, delay);
            timer->async_wait([timer, work = std::move(work)](error_code error) {
                if (!error) work();
            });
        });
    }

    void on_hangup(std::function<void()> work) {
        struct sigaction now{};
        if (sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) return;
        error_code ignored;
        hangups_.add(SIGHUP, ignored);
        wait_for_hangup(std::move(work));
    }

    void add(Service& service) { services_.push_back(&service); }
    asio::io_context& context() { return io_; }

  private:
    void wait_for_hangup(std::function<void()> work) {
        hangups_.async_wait([this, work = std::move(work)](error_code error, int) mutable {
            if (error) return;
            work();
            wait_for_hangup(std::move(work));
        });
    }

    void wait_until_answered() {
        const auto is_busy = [](const Service* service) { return service->is_busy(); };
        if (std::ranges::none_of(services_, is_busy)) return io_.stop();
        look_timer_.expires_after(drain_look);
        look_timer_.async_wait([this](error_code) { wait_until_answered(); });
    }

    std::atomic<bool> stopping_{false};
    std::vector<Service*> services_;
    asio::io_context io_{1};
    asio::steady_timer drain_timer_{io_};
    asio::steady_timer look_timer_{io_};
    asio::signal_set signals_{io_, SIGTERM, SIGINT};
    asio::signal_set hangups_{io_};
    std::list<asio::steady_timer> timers_;
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}
EventLoop::~EventLoop() = default;

void EventLoop::run() {
    impl_->run();
}
void EventLoop::stop() {
    impl_->stop();
}
bool EventLoop::is_stopping() const {
    return impl_->is_stopping();
}
void EventLoop::post(std::move_only_function<void()> work) {
    impl_->post(std::move(work));
}
void EventLoop::every(std::chrono::milliseconds period, std::function<void()> work) {
    impl_->every(period, std::move(work));
}
void EventLoop::after(std::chrono::milliseconds delay, std::function<void()> work) {
    impl_->after(delay, std::move(work));
}
void EventLoop::on_hangup(std::function<void()> work) {
    impl_->on_hangup(std::move(work));
}
void EventLoop::add(Service& service) {
    impl_->add(service);
}
boost::asio::io_context& EventLoop::context() {
    return impl_->context();
}

}  // namespace knell::net
