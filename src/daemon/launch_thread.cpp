#include "daemon/launch_thread.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include "core/limits.hpp"
#include "platform/program_environment.hpp"

namespace knell {

LaunchThread::LaunchThread(OutputFiles& outputs, const ProcessTable& table, Children& children)
    : outputs_(outputs), table_(table), children_(children), queue_(queued_max), thread_([this] {
          loop();
      }) {}

void LaunchThread::launch(LaunchOrder order, Done done) {
    Request request{std::move(order), std::move(done)};
    if (queue_.push(std::move(request))) return;
    // A push that is refused leaves its argument as it was. NOLINTNEXTLINE(bugprone-use-after-move)
    request.done(fail(ErrorCode::limit, fmt::format("{} processes are waiting to be started "
                                                    "already; try again in a moment",
                                                    queued_max)));
}

void LaunchThread::stop() {
    queue_.close();
    if (thread_.joinable()) thread_.join();
}

void LaunchThread::loop() {
    pthread_setname_np(pthread_self(), "knell-start");
    std::vector<Request> taken;
    while (queue_.pop_all(taken)) {
        for (auto& request : taken) request.done(make(std::move(request.order)));
    }
}

Result<ProcessIdentity> LaunchThread::make(LaunchOrder order) {
    auto environment = base_environment(environ);
    if (!environment) return std::unexpected(std::move(environment.error()));
    std::ranges::move(order.environment, std::back_inserter(*environment));
    order.environment = std::move(*environment);
    const auto id = order.id;
    auto program = order.argv.front();
    pid_t unreaped = 0;
    auto launched = knell::launch(std::move(order), outputs_, table_, unreaped);
    if (unreaped != 0) children_.reap_later(unreaped);
    if (!launched) return std::unexpected(std::move(launched.error()));
    auto process = launched->process;
    children_.hold(id, std::move(*launched), std::move(program));
    return process;
}

}  // namespace knell
