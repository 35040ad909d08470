#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace boost::asio {
class io_context;  // NOLINT(readability-identifier-naming): Asio's own
}

namespace knell::net {

/// The one thread of sockets, timers and signals: whoever serves clients, by whatever protocol,
/// shares it.
///
/// All of it runs on the thread that calls `run`; only `post`, `after` and `stop` may be called
/// from others.
class EventLoop {
  public:
    EventLoop();
    ~EventLoop();

    /// Runs until `stop`, SIGTERM or SIGINT; then until nobody is busy, or not for long.
    void run();
    void stop();
    bool is_stopping() const;

    void post(std::move_only_function<void()> work);
    /// Runs `work` every `period`, first after one period.
    void every(std::chrono::milliseconds period, std::function<void()> work);
    /// Once.  Dropped when the loop stops before that.
    void after(std::chrono::milliseconds delay, std::function<void()> work);
    /// Runs `work` for each SIGHUP, unless SIGHUP is ignored, as under nohup.
    void on_hangup(std::function<void()> work);

    /// Somebody who serves clients.
    class Service {
      public:
        virtual ~Service() = default;
        /// The loop stops: nobody new is let in.
        virtual void close_door() = 0;
        /// Calls that were taken are still to be answered.
        virtual bool is_busy() const = 0;
    };
    /// Before `run`; until the loop is gone.
    void add(Service& service);

    /// For this folder alone.
    boost::asio::io_context& context();

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace knell::net
